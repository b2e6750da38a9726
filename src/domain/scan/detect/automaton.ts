/**
 * An Aho-Corasick automaton: finds many words in one pass over a text, however many there are.
 * States are numbered by depth, so the fallback of a state always has a smaller number.
 */
export type Automaton = {
  /** The state after one more character. State 0 is the start. */
  step(state: number, code: number): number
  readonly rows: AsciiRows
  /** Index of the longest word that ends in this state, or -1. */
  wordAt(state: number): number
  /** Index of the next shorter word that ends where this one does, or -1. */
  shorterThan(word: number): number
  /** How many characters of a word this state has read. */
  depthOf(state: number): number
  /** The state of the longest proper suffix that is also the start of a word. */
  fallbackOf(state: number): number
}

/** The words must be distinct and not empty. */
export function createAutomaton(words: readonly string[]): Automaton {
  const maxStates = words.reduce((sum, { length }) => sum + length, 1)
  const edges = createEdges(maxStates)
  const endingAt = new Int32Array(maxStates).fill(-1)
  const shorter = new Int32Array(words.length).fill(-1)
  const fallback = new Int32Array(maxStates)
  const depths = new Int32Array(maxStates)

  const search = (from: number, code: number): number => {
    for (let state = from; ; state = fallback[state] ?? 0) {
      const child = edges.childOf(state, code)
      if (child >= 0) return child
      if (state === 0) return 0
    }
  }
  /** The fallback of the new state is less deep, so it is complete already. */
  const grow = (state: number, code: number): number => {
    const target = state === 0 ? 0 : search(fallback[state] ?? 0, code)
    const child = edges.add(state, code)
    fallback[child] = target
    depths[child] = (depths[state] ?? 0) + 1
    endingAt[child] = endingAt[target] ?? -1
    return child
  }

  // All words are inserted one character at a time, so states are created in the order of their depth.
  const reached = new Int32Array(words.length)
  let growing = words.map((_, index) => index)
  for (let depth = 0; growing.length > 0; depth++) {
    for (const index of growing) {
      const state = reached[index] ?? 0
      const code = words[index]?.charCodeAt(depth) ?? 0
      const known = edges.childOf(state, code)
      reached[index] = known >= 0 ? known : grow(state, code)
    }
    const isLonger = (index: number): boolean => (words[index]?.length ?? 0) > depth + 1
    for (const index of growing) if (!isLonger(index)) end(index)
    growing = growing.filter(isLonger)
  }
  const rows = createAsciiRows(words, { edges, fallback, endingAt })
  return {
    rows,
    step(state, code) {
      if (code >= ascii || state >= rows.states) return search(state, code)
      const next = rows.cells[state * rows.width + (rows.columns[code] ?? 0)] ?? 0
      return next < 0 ? ~next : next / rows.width
    },
    wordAt: (state) => endingAt[state] ?? -1,
    shorterThan: (index) => shorter[index] ?? -1,
    depthOf: (state) => depths[state] ?? 0,
    fallbackOf: (state) => fallback[state] ?? 0,
  }

  function end(index: number): void {
    const state = reached[index] ?? 0
    shorter[index] = endingAt[state] ?? -1
    endingAt[state] = index
  }
}

const ascii = 128

type Edges = ReturnType<typeof createEdges>

/** The edges of the automaton in one hash table, so that a step costs the same however many words share a prefix. */
function createEdges(maxStates: number) {
  const mask = 2 ** Math.ceil(Math.log2(maxStates * 2)) - 1
  const slots = new Int32Array(mask + 1).fill(-1)
  const parents = new Int32Array(maxStates)
  const codes = new Uint16Array(maxStates)
  let states = 1
  return {
    states: () => states,
    /** The child, or -1. */
    childOf(state: number, code: number): number {
      for (let slot = hashOf(state, code) & mask; ; slot = (slot + 1) & mask) {
        const child = slots[slot] ?? -1
        if (child === -1 || (parents[child] === state && codes[child] === code)) return child
      }
    },
    add(state: number, code: number): number {
      const child = states++
      let slot = hashOf(state, code) & mask
      while (slots[slot] !== -1) slot = (slot + 1) & mask
      slots[slot] = child
      parents[child] = state
      codes[child] = code
      return child
    },
  }
}

function hashOf(state: number, code: number): number {
  const mixed = Math.imul(state, 0x9e3779b1) ^ Math.imul(code, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}

/**
 * The states after an ASCII character, without a search for fallbacks. Only the first states have a row: the least deep, where
 * most steps start. A loop over a text that reads them directly is several times as fast as one that calls `step`.
 */
export type AsciiRows = {
  /** How many states have a row. */
  readonly states: number
  readonly width: number
  /** The column of each character. An upper-case letter has the column of the lower-case one; words must be in lower case. */
  readonly columns: Uint8Array
  /** By first cell of a row plus column: the first cell of the next state's row. Negative, `~state`, if a word ends there or it has no row. */
  readonly cells: Int32Array
  /** The first cell of the first row of a state that has read two characters. */
  readonly deepRow: number
}

/** Bounds the memory: 256 KB. */
const maxCells = 65_536

type AutomatonParts = { readonly edges: Edges; readonly fallback: Int32Array; readonly endingAt: Int32Array }

function createAsciiRows(words: readonly string[], { edges, fallback, endingAt }: AutomatonParts): AsciiRows {
  const columns = new Uint8Array(ascii)
  const letters: number[] = []
  for (const word of words) {
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at)
      if (code < ascii && columns[code] === 0) columns[code] = letters.push(code)
    }
  }
  const width = letters.length + 1
  const states = Math.min(edges.states(), Math.floor(maxCells / width))
  const nextStates = new Int32Array(states * width)
  for (let state = 0; state < states; state++) {
    for (const [at, code] of letters.entries()) {
      const child = edges.childOf(state, code)
      const inherited = state === 0 ? 0 : (nextStates[(fallback[state] ?? 0) * width + at + 1] ?? 0)
      nextStates[state * width + at + 1] = child >= 0 ? child : inherited
    }
  }
  const deepRow = (1 + nextStates.subarray(0, width).filter((next) => next > 0).length) * width
  const cells = nextStates.map((next) => (next >= states || (endingAt[next] ?? -1) >= 0 ? ~next : next * width))
  for (let upper = 65; upper <= 90; upper++) columns[upper] ||= columns[upper + 32] ?? 0
  return { states, width, columns, cells, deepRow }
}
