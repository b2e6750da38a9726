/**
 * Aho and Corasick's automaton: finds all of many words in one walk over a text, however many there are.
 * States are numbered breadth first: what a state falls back to always has a smaller number.
 */
export type Automaton = {
  /** The state after one more character. The walk starts in state 0. */
  step(state: number, code: number): number
  /** Index of the longest word that ends in this state, or -1. */
  wordAt(state: number): number
  /** Index of the next shorter word that ends where this one does, or -1. */
  shorterThan(word: number): number
}

type Node = { readonly children: Map<number, Node>; word: number; id: number }

const createNode = (): Node => ({ children: new Map(), word: -1, id: 0 })

/** The words must be distinct and not empty. */
export function createAutomaton(words: readonly string[]): Automaton {
  const nodes = breadthFirst(plant(words))
  const childOf = layOut(nodes)
  const word = Int32Array.from(nodes, (node) => node.word)
  const shorter = new Int32Array(words.length).fill(-1)
  const fallback = new Int32Array(nodes.length)

  const step = (from: number, code: number): number => {
    for (let state = from; ; state = fallback[state] ?? 0) {
      const child = childOf(state, code)
      if (child >= 0) return child
      if (state === 0) return 0
    }
  }
  for (const node of nodes) {
    for (const [code, child] of node.children) {
      const fallen = node.id === 0 ? 0 : step(fallback[node.id] ?? 0, code)
      fallback[child.id] = fallen
      const inherited = word[fallen] ?? -1
      if (child.word >= 0) shorter[child.word] = inherited
      else word[child.id] = inherited
    }
  }
  return { step, wordAt: (state) => word[state] ?? -1, shorterThan: (index) => shorter[index] ?? -1 }
}

function plant(words: readonly string[]): Node {
  const root = createNode()
  for (const [index, word] of words.entries()) {
    let node = root
    for (let at = 0; at < word.length; at++) node = growChild(node, word.charCodeAt(at))
    node.word = index
  }
  return root
}

function growChild(node: Node, code: number): Node {
  const known = node.children.get(code)
  if (known !== undefined) return known
  const child = createNode()
  node.children.set(code, child)
  return child
}

function breadthFirst(root: Node): readonly Node[] {
  const nodes = [root]
  for (const node of nodes) {
    for (const child of node.children.values()) {
      child.id = nodes.length
      nodes.push(child)
    }
  }
  return nodes
}

const ascii = 128

/**
 * The child of a state by a letter, or -1. All edges stand in one hash table, so that a step costs the same
 * however many words begin alike; those of the root, where most steps start, are also in a table of their own.
 */
function layOut(nodes: readonly Node[]): (state: number, code: number) => number {
  const mask = 2 ** Math.ceil(Math.log2(nodes.length * 2)) - 1
  const slots = new Int32Array(mask + 1).fill(-1)
  const parents = new Int32Array(nodes.length)
  const codes = new Uint16Array(nodes.length)
  const fromRoot = new Int32Array(ascii).fill(-1)
  for (const node of nodes) {
    for (const [code, child] of node.children) {
      if (node.id === 0 && code < ascii) fromRoot[code] = child.id
      let slot = place(node.id, code) & mask
      while (slots[slot] !== -1) slot = (slot + 1) & mask
      slots[slot] = child.id
      parents[child.id] = node.id
      codes[child.id] = code
    }
  }
  return (state, code) => {
    if (state === 0 && code < ascii) return fromRoot[code] ?? -1
    for (let slot = place(state, code) & mask; ; slot = (slot + 1) & mask) {
      const child = slots[slot] ?? -1
      if (child === -1 || (parents[child] === state && codes[child] === code)) return child
    }
  }
}

function place(state: number, code: number): number {
  const mixed = Math.imul(state, 0x9e3779b1) ^ Math.imul(code, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}
