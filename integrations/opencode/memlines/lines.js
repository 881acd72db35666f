// Lines out of a stream of pieces, with bounded memory.

export class LineSplitter {
  /** @type {string[]} */
  #pieces = []
  #length = 0
  #onLine
  #onTooLong
  #mostChars

  /**
   * @param {(line: string) => void} onLine
   * @param {() => void} onTooLong called once a line; the rest of that line is skipped
   * @param {number} mostChars
   */
  constructor(onLine, onTooLong, mostChars) {
    this.#onLine = onLine
    this.#onTooLong = onTooLong
    this.#mostChars = mostChars
  }

  /** @param {string} text */
  push(text) {
    const parts = text.split("\n")
    parts.forEach((part, index) => {
      this.#add(part)
      if (index < parts.length - 1) this.#finish()
    })
  }

  /** @param {string} piece */
  #add(piece) {
    const fitted = this.#length <= this.#mostChars
    this.#length += piece.length
    if (this.#length <= this.#mostChars) this.#pieces.push(piece)
    else if (fitted) {
      this.#pieces = []
      this.#onTooLong()
    }
  }

  #finish() {
    const line = this.#pieces.join("").replace(/\r$/, "")
    const fits = this.#length <= this.#mostChars
    this.#pieces = []
    this.#length = 0
    if (fits) this.#onLine(line)
  }

  /** Give what stands behind the last line break. */
  end() {
    if (this.#length > 0) this.#finish()
  }
}

/** The last lines of a stream, for messages about what went wrong. */
export class Tail {
  /** @type {string[]} */
  lines = []

  /**
   * @param {string} line
   * @param {number} mostLines
   */
  add(line, mostLines = 20) {
    if (!line.trim()) return
    this.lines.push(line.trim().slice(0, 500))
    if (this.lines.length > mostLines) this.lines.shift()
  }

  /** @returns {string} */
  get last() {
    return this.lines.at(-1) ?? ""
  }
}
