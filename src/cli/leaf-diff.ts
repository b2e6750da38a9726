import { isRecord } from '../base/record.ts'
import type { FieldDifference } from './policies/diff.ts'

/** The leaf fields of two documents that differ, by dotted path. A list is a leaf. An absent field is undefined. */
export function leafDifferences(before: object, after: object): FieldDifference[] {
  const [old, next] = [leavesOf(before), leavesOf(after)]
  return [...new Set([...next.keys(), ...old.keys()])]
    .map((field) => ({ field, before: old.get(field), after: next.get(field) }))
    .filter((each) => JSON.stringify(each.before) !== JSON.stringify(each.after))
}

/** The leaf fields of a document, by dotted path. */
export const leavesOf = (document: object): ReadonlyMap<string, unknown> => new Map(pairsOf(document, ''))

function pairsOf(value: object, prefix: string): [path: string, value: unknown][] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    isRecord(inner) ? pairsOf(inner, `${prefix}${name}.`) : inner === undefined ? [] : [[`${prefix}${name}`, inner]],
  )
}

/** The differences in the format of `diff`; of a list, the items that are added and removed. */
export const leafDiffLines = (differences: readonly FieldDifference[]): string[] => differences.flatMap(linesOf)

function linesOf({ field, before, after }: FieldDifference): string[] {
  if (!Array.isArray(before) || !Array.isArray(after)) return [...line('-', field, before), ...line('+', field, after)]
  const removed = before.filter((item) => !after.includes(item))
  const added = after.filter((item) => !before.includes(item))
  if (removed.length + added.length === 0) return [`~ ${field}: the order changed`]
  return [...removed.flatMap((item) => line('-', field, item)), ...added.flatMap((item) => line('+', field, item))]
}

const line = (sign: string, field: string, value: unknown): string[] =>
  value === undefined ? [] : [`${sign} ${field}: ${typeof value === 'string' ? value : JSON.stringify(value)}`]
