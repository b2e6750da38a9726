/**
 * Estimates the number of instructions of a pattern without compiling it, because twenty characters can expand to ten thousand
 * instructions (`(abcdefghij){1000}`).
 */
export function estimatePatternSize(source: string): number {
  const groups: number[] = []
  let total = 0
  let atom = 0
  for (let at = 0; at < source.length;) {
    const { kind, length, times } = readToken(source.slice(at, at + longestToken), source, at)
    at += length
    if (kind === 'open') {
      groups.push(total)
      total = 0
      atom = 0
    } else if (kind === 'close') {
      atom = total
      total += groups.pop() ?? 0
    } else if (kind === 'repeat') {
      total += atom * (times - 1)
      atom *= times
    } else {
      atom = 1
      total += 1
    }
  }
  return groups.reduce((sum, outer) => sum + outer, total)
}

type Token = { readonly kind: 'open' | 'close' | 'repeat' | 'atom'; readonly length: number; readonly times: number }

/** A count such as `{12,1000}`. */
const longestToken = 24
const counted = /^\{(?<least>\d{1,9})(?:,(?<most>\d{0,9}))?\}/

function readToken(ahead: string, source: string, at: number): Token {
  const token = (kind: Token['kind'], length: number, times = 1): Token => ({ kind, length, times })
  const count = counted.exec(ahead)
  if (count)
    return token('repeat', count[0].length, Math.max(1, Number(count.groups?.['most'] || count.groups?.['least'])))
  if (ahead.startsWith('\\')) return token('atom', 2)
  if (ahead.startsWith('[')) return token('atom', classLength(source, at))
  if (ahead.startsWith('(')) return token('open', 1)
  return ahead.startsWith(')') ? token('close', 1) : token('atom', 1)
}

/** Length of a character class. A `]` in first position is a member of it. */
function classLength(source: string, start: number): number {
  let at = start + 1
  if (source[at] === '^') at += 1
  if (source[at] === ']') at += 1
  while (at < source.length && source[at] !== ']') at += source[at] === '\\' ? 2 : 1
  return at + 1 - start
}
