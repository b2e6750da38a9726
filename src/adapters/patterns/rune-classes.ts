import { readsRune, type Instruction } from './pattern-program.ts'

/** What stands next to a position: the conditions of empty matches depend on nothing else. */
export type Neighbour = 'edge' | 'newline' | 'word' | 'other'

/** Characters that no instruction of a program tells apart. */
export type RuneClass = {
  readonly id: number
  /** One of the characters. */
  readonly rune: number
  readonly neighbour: Neighbour
}

export type RuneClasses = {
  /** The class of a character, or -1 if there are too many classes. */
  classOf(rune: number): number
  at(id: number): RuneClass
  /** How many classes are known so far. */
  count(): number
}

const maxClasses = 1_024
/** Characters whose class is cached. */
const maxCached = 8_192

/** A character gets its class when it is first met, by asking each distinct instruction whether it reads it. */
export function createRuneClasses(instructions: readonly Instruction[]): RuneClasses {
  const readers = distinctReaders(instructions)
  const classes: RuneClass[] = []
  const bySignature = new Map<string, RuneClass>()
  const cache = new Map<number, number>()

  function classify(rune: number): number {
    const neighbour = neighbourOf(rune)
    let signature: string = neighbour
    for (const reader of readers) signature += reader.matchRune(rune) ? '1' : '0'
    const known = bySignature.get(signature)
    if (known !== undefined) return known.id
    if (classes.length >= maxClasses) return -1
    const added = { id: classes.length, rune, neighbour }
    classes.push(added)
    bySignature.set(signature, added)
    return added.id
  }

  return {
    classOf(rune) {
      const cached = cache.get(rune)
      if (cached !== undefined) return cached
      const found = classify(rune)
      if (cache.size < maxCached) cache.set(rune, found)
      return found
    },
    at(id) {
      const found = classes[id]
      if (found === undefined) throw new Error(`no class ${id}`)
      return found
    },
    count: () => classes.length,
  }
}

function distinctReaders(instructions: readonly Instruction[]): readonly Instruction[] {
  const byContent = new Map<string, Instruction>()
  for (const instruction of instructions) {
    const { op, arg, runes } = instruction
    if (readsRune(instruction)) byContent.set(`${op} ${arg} ${Array.from(runes).join()}`, instruction)
  }
  return [...byContent.values()]
}

/** Word characters are ASCII, as in every RE2. */
function neighbourOf(rune: number): Neighbour {
  if (rune === 0x0a) return 'newline'
  const isLetter = (rune | 0x20) >= 97 && (rune | 0x20) <= 122 && rune < 128
  return isLetter || (rune >= 48 && rune <= 57) || rune === 95 ? 'word' : 'other'
}
