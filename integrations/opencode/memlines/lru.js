/**
 * A map that keeps what was used last and forgets the rest.
 * @template K, V
 * @extends {Map<K, V>}
 */
export class LruMap extends Map {
  #most

  /** @param {number} most */
  constructor(most) {
    super()
    this.#most = most
  }

  /**
   * @param {K} key
   * @returns {V | undefined}
   */
  get(key) {
    const value = super.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  /**
   * @param {K} key
   * @param {V} value
   */
  set(key, value) {
    super.delete(key)
    super.set(key, value)
    if (this.size > this.#most) this.delete(/** @type {K} */ (this.keys().next().value))
    return this
  }
}
