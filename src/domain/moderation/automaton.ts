/**
 * Aho and Corasick's automaton: finds all of many words in one walk over a text, however many there are.
 * States are numbered breadth first, so that the children of a state stand side by side and a state is a few integers.
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
  const { codes, firstChild, word } = layOut(nodes)
  const rootChildren = new Map([...(nodes[0]?.children ?? [])].map(([code, node]) => [code, node.id]))

  const childOf = (state: number, code: number): number => {
    if (state === 0) return rootChildren.get(code) ?? -1
    const end = firstChild[state + 1] ?? 0
    for (let child = firstChild[state] ?? 0; child < end; child++) if (codes[child] === code) return child
    return -1
  }
  const fallback = new Int32Array(nodes.length)
  const step = (from: number, code: number): number => {
    for (let state = from; ; state = fallback[state] ?? 0) {
      const child = childOf(state, code)
      if (child >= 0) return child
      if (state === 0) return 0
    }
  }
  const shorter = new Int32Array(words.length).fill(-1)
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

/** The children of state s are the states from `firstChild[s]` up to `firstChild[s + 1]`; `codes` has the letter into each. */
function layOut(nodes: readonly Node[]): { codes: Uint16Array; firstChild: Int32Array; word: Int32Array } {
  const codes = new Uint16Array(nodes.length)
  const firstChild = new Int32Array(nodes.length + 1)
  const word = new Int32Array(nodes.length)
  let next = 1
  for (const node of nodes) {
    firstChild[node.id] = next
    next += node.children.size
    word[node.id] = node.word
    for (const [code, child] of node.children) codes[child.id] = code
  }
  firstChild[nodes.length] = next
  return { codes, firstChild, word }
}
