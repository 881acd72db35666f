"""Where people find the project: the files that marketplaces, registries and hosts read."""
