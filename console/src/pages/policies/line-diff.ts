export type DiffLine = { readonly kind: 'same' | 'added' | 'removed'; readonly text: string }

/** The shortest edit from one list of lines to the other, by their longest common subsequence. */
export function lineDiff(before: readonly string[], after: readonly string[]): DiffLine[] {
  const lengths = commonLengths(before, after)
  const lines: DiffLine[] = []
  let from = 0
  let to = 0
  while (from < before.length || to < after.length) {
    const removed = before[from]
    const added = after[to]
    if (removed !== undefined && removed === added) {
      lines.push({ kind: 'same', text: removed })
      from += 1
      to += 1
    } else if (removed !== undefined && lengthAt(lengths, from + 1, to) >= lengthAt(lengths, from, to + 1)) {
      lines.push({ kind: 'removed', text: removed })
      from += 1
    } else {
      lines.push({ kind: 'added', text: added ?? '' })
      to += 1
    }
  }
  return lines
}

type Lengths = readonly (readonly number[])[]

const lengthAt = (lengths: Lengths, from: number, to: number): number => lengths[from]?.[to] ?? 0

/** At `[from][to]`: how many lines the rests of both lists have in common, in order. */
function commonLengths(before: readonly string[], after: readonly string[]): Lengths {
  const lengths: number[][] = Array.from({ length: before.length + 1 }, () => Array<number>(after.length + 1).fill(0))
  for (let from = before.length - 1; from >= 0; from -= 1)
    for (let to = after.length - 1; to >= 0; to -= 1) {
      const row = lengths[from]
      if (row === undefined) continue
      row[to] =
        before[from] === after[to]
          ? lengthAt(lengths, from + 1, to + 1) + 1
          : Math.max(lengthAt(lengths, from + 1, to), lengthAt(lengths, from, to + 1))
    }
  return lengths
}
