/**
 * An Aho-Corasick automaton: finds many words in one pass over a text, however many there are.
 * States are numbered by depth, so the fallback of a state always has a smaller number.
 */
export type Automaton = {
  /** The state after one more character. State 0 is the start. */
  step(state: number, code: number): number
  /** Index of the longest word that ends in this state, or -1. */
  wordAt(state: number): number
  /** Index of the next shorter word that ends where this one does, or -1. */
  shorterThan(word: number): number
}

/** The words must be distinct and not empty. */
export function createAutomaton(words: readonly string[]): Automaton {
  const maxStates = words.reduce((sum, { length }) => sum + length, 1)
  const edges = createEdges(maxStates)
  const endingAt = new Int32Array(maxStates).fill(-1)
  const shorter = new Int32Array(words.length).fill(-1)
  const fallback = new Int32Array(maxStates)

  const step = (from: number, code: number): number => {
    for (let state = from; ; state = fallback[state] ?? 0) {
      const child = edges.childOf(state, code)
      if (child >= 0) return child
      if (state === 0) return 0
    }
  }
  /** The fallback of the new state is less deep, so it is complete already. */
  const grow = (state: number, code: number): number => {
    const target = state === 0 ? 0 : step(fallback[state] ?? 0, code)
    const child = edges.add(state, code)
    fallback[child] = target
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
  return { step, wordAt: (state) => endingAt[state] ?? -1, shorterThan: (index) => shorter[index] ?? -1 }

  function end(index: number): void {
    const state = reached[index] ?? 0
    shorter[index] = endingAt[state] ?? -1
    endingAt[state] = index
  }
}

const ascii = 128

/**
 * The edges of the automaton in one hash table, so that a step costs the same however many words share a prefix. The edges
 * of the root, where most steps start, are also in a table of their own.
 */
function createEdges(maxStates: number) {
  const mask = 2 ** Math.ceil(Math.log2(maxStates * 2)) - 1
  const slots = new Int32Array(mask + 1).fill(-1)
  const parents = new Int32Array(maxStates)
  const codes = new Uint16Array(maxStates)
  const fromRoot = new Int32Array(ascii).fill(-1)
  let states = 1
  return {
    /** The child, or -1. */
    childOf(state: number, code: number): number {
      if (state === 0 && code < ascii) return fromRoot[code] ?? -1
      for (let slot = hashOf(state, code) & mask; ; slot = (slot + 1) & mask) {
        const child = slots[slot] ?? -1
        if (child === -1 || (parents[child] === state && codes[child] === code)) return child
      }
    },
    add(state: number, code: number): number {
      const child = states++
      if (state === 0 && code < ascii) fromRoot[code] = child
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
