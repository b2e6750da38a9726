import { operations, readsRune, type Instruction, type PatternProgram } from './pattern-program.ts'

/**
 * A literal that every match of a pattern contains, in any case of ASCII letters: the longest run of single characters that all
 * ways through the program pass. Undefined if there is none.
 */
export function requiredLiteral({ start, instructions }: PatternProgram): string | undefined {
  let longest = ''
  let run = ''
  const end = (): void => {
    if (run.length > longest.length) longest = run
    run = ''
  }
  const passed = new Set<number>()
  for (let at = start; !passed.has(at);) {
    passed.add(at)
    const instruction = instructions[at]
    if (instruction === undefined || instruction.op === operations.match) break
    const letter = readsRune(instruction) ? singleLetter(instruction) : undefined
    if (letter !== undefined) run += letter
    else if (readsRune(instruction) || isBranch(instruction)) end()
    const next = isBranch(instruction) ? exitOf(instructions, at) : instruction.out
    if (next === undefined) break
    at = next
  }
  end()
  return longest === '' ? undefined : longest
}

const isBranch = ({ op }: Instruction): boolean => op === operations.branch || op === operations.branchOrMatch

/** The one ASCII character that the instruction reads, perhaps in either case. */
function singleLetter({ runes }: Instruction): string | undefined {
  const [rune = 0x80] = Array.from(runes)
  return runes.length === 1 && rune < 0x80 ? String.fromCharCode(rune) : undefined
}

/** Where a branch continues if its other side is a loop that only leads back to it. Undefined if both sides lead on. */
function exitOf(instructions: readonly Instruction[], branch: number): number | undefined {
  const { out = 0, arg = 0 } = instructions[branch] ?? {}
  if (!leadsOn(instructions, out, branch)) return arg
  return leadsOn(instructions, arg, branch) ? undefined : out
}

/** True if a match can be reached without passing the branch again. */
function leadsOn(instructions: readonly Instruction[], from: number, branch: number): boolean {
  const seen = new Set([branch])
  const open = [from]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const instruction = instructions[at]
    if (instruction === undefined || seen.has(at)) continue
    seen.add(at)
    if (instruction.op === operations.match) return true
    if (instruction.op !== operations.fail) open.push(instruction.out)
    if (isBranch(instruction)) open.push(instruction.arg)
  }
  return false
}
