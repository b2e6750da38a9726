/**
 * Runs a pattern program as a deterministic automaton whose states are created when a text first reaches them. A state is a
 * set of threads: the instructions at which a match that has begun may continue. Without a thread nothing is pending.
 */
import { conditions, operations, readsRune, type PatternProgram } from './pattern-program.ts'
import { createRuneClasses, type Neighbour, type RuneClass } from './rune-classes.ts'

export type PatternState = {
  /** Instructions to continue with, in ascending order. Matches that begin at the next character are not among them. */
  readonly threads: Int32Array
  readonly previous: Neighbour
  /** Patterns that match up to here, whatever follows, and those whose match the last character has confirmed. */
  readonly hits: readonly number[]
  readonly isHit: boolean
  /** True if no match is pending: there are no threads. */
  readonly isIdle: boolean
  /** The states after one more character, by its class. */
  next: (PatternState | undefined)[]
  /** The patterns that match if the text ends here, once they are known. */
  hitsAtEnd: readonly number[] | undefined
}

export type PatternAutomaton = {
  readonly start: PatternState
  /** The class of a character, or -1 if there are too many. */
  classOf(rune: number): number
  /** The classes of the ASCII characters. */
  readonly asciiClasses: Int16Array
  /** Creates the state after a character of this class. Expensive; `next` of a state caches it. */
  advance(state: PatternState, runeClass: number): PatternState
  /** The patterns that match if the text ends here. */
  hitsAtEnd(state: PatternState): readonly number[]
}

/** Further states discard all states before them. */
const statesPerSet = 512
const statesPerPattern = 8

export function createPatternAutomaton(program: PatternProgram, patterns: number): PatternAutomaton {
  const classes = createRuneClasses(program.instructions)
  const follow = createFollow(program)
  const neighbourOf = relevantNeighbour(program)
  const maxStates = statesPerSet + statesPerPattern * patterns
  let states = new Map<string, PatternState>()
  /** What matches that begin at a character continue with, by the character before them and their own class. */
  const beginnings = new Map<string, Followed>()

  function beginningsAt(previous: Neighbour, rune: RuneClass): Followed {
    const key = `${previous} ${rune.id}`
    const known = beginnings.get(key) ?? follow([program.start], previous, rune)
    beginnings.set(key, known)
    return known
  }

  function stateOf(found: Pick<PatternState, 'threads' | 'previous'>, confirmed: readonly number[]): PatternState {
    const { threads, previous } = found
    const key = `${threads.join()} ${previous} ${confirmed.join()}`
    const known = states.get(key)
    if (known !== undefined) return known
    if (states.size >= maxStates) discardStates()
    const certain = follow([...threads, program.start], previous, undefined).hits
    const hits = [...new Set([...confirmed, ...certain])]
    const isIdle = threads.length === 0
    const state = { threads, previous, hits, isHit: hits.length > 0, isIdle, next: noneYet(), hitsAtEnd: undefined }
    states.set(key, state)
    return state
  }

  /** A stream in a discarded state stays correct, because a state knows its threads. */
  function discardStates(): void {
    for (const state of states.values()) state.next = noneYet()
    states = new Map()
  }

  function noneYet(): undefined[] {
    return Array.from({ length: classes.count() }, () => undefined)
  }

  return {
    start: stateOf({ threads: new Int32Array(), previous: neighbourOf('edge') }, []),
    classOf: classes.classOf,
    asciiClasses: Int16Array.from({ length: 128 }, (_, code) => classes.classOf(code)),
    advance(state, runeClass) {
      const rune = classes.at(runeClass)
      const own = follow(state.threads, state.previous, rune)
      const begun = beginningsAt(state.previous, rune)
      const threads = Int32Array.from(new Set([...own.threads, ...begun.threads])).sort()
      const confirmed = [...new Set([...own.hits, ...begun.hits])].filter((hit) => !state.hits.includes(hit))
      const next = stateOf(
        { threads, previous: neighbourOf(rune.neighbour) },
        confirmed.sort((first, second) => first - second),
      )
      state.next[runeClass] = next
      return next
    },
    hitsAtEnd: (state) =>
      (state.hitsAtEnd ??= follow([...state.threads, program.start], state.previous, endOfText).hits),
  }
}

/** Where threads continue after a character, and the patterns that match before it. */
type Followed = { readonly threads: readonly number[]; readonly hits: readonly number[] }

const endOfText: RuneClass = { id: -1, rune: -1, neighbour: 'edge' }

/** Follows threads over all empty matches and then over one character. Undefined: the next character is not known yet. */
type Follow = (threads: Iterable<number>, previous: Neighbour, next: RuneClass | undefined) => Followed

function createFollow({ instructions }: PatternProgram): Follow {
  const visited = new Uint8Array(instructions.length)
  return (from, previous, next) => {
    const holding = conditionsBetween(previous, next?.neighbour)
    const open = [...from]
    const seen: number[] = []
    const threads: number[] = []
    const hits: number[] = []
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const instruction = instructions[at]
      if (instruction === undefined || visited[at] === 1) continue
      visited[at] = 1
      seen.push(at)
      const { op, out, arg } = instruction
      if (op === operations.branch || op === operations.branchOrMatch) open.push(out, arg)
      else if (op === operations.capture || op === operations.nothing) open.push(out)
      else if (op === operations.emptyMatch && (arg & ~holding) === 0) open.push(out)
      else if (op === operations.match) hits.push(arg)
      else if (readsRune(instruction) && next !== undefined && instruction.matchRune(next.rune)) threads.push(out)
    }
    for (const at of seen) visited[at] = 0
    return { threads, hits }
  }
}

/** The conditions that hold between two neighbours. While the next one is unknown, only those that do not depend on it. */
function conditionsBetween(previous: Neighbour, next: Neighbour | undefined): number {
  let holding = 0
  if (previous === 'edge') holding |= conditions.beginText | conditions.beginLine
  if (previous === 'newline') holding |= conditions.beginLine
  if (next === undefined) return holding
  if (next === 'edge') holding |= conditions.endText | conditions.endLine
  if (next === 'newline') holding |= conditions.endLine
  const isBoundary = (previous === 'word') !== (next === 'word')
  return holding | (isBoundary ? conditions.wordBoundary : conditions.noWordBoundary)
}

/** Neighbours that the program cannot tell apart are one, so that there are fewer states. */
function relevantNeighbour({ instructions }: PatternProgram): (neighbour: Neighbour) => Neighbour {
  const used = instructions.reduce((bits, { op, arg }) => (op === operations.emptyMatch ? bits | arg : bits), 0)
  const relevant = new Set<Neighbour>()
  if (used & (conditions.beginText | conditions.beginLine)) relevant.add('edge')
  if (used & conditions.beginLine) relevant.add('newline')
  if (used & (conditions.wordBoundary | conditions.noWordBoundary)) relevant.add('word')
  return (neighbour) => (relevant.has(neighbour) ? neighbour : 'other')
}
