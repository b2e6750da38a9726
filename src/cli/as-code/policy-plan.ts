import type { PolicyBody } from '../../http/admin/policies/schema.ts'
import { contentDifferences, type FieldDifference } from '../policies/diff.ts'

/** A policy of a file. Fields that are left out get their defaults. */
export type PolicyFileEntry = {
  readonly name: string
  /** False leaves the draft unpublished. */
  readonly publish: boolean
  /** The request body of the creation. */
  readonly policy: Readonly<Record<string, unknown>>
}

/** The change of one policy, and the revision that the plan is based on. */
export type PlanStep = {
  readonly name: string
  readonly action: 'create' | 'update' | 'keep'
  readonly publish: boolean
  readonly id?: string
  readonly revision?: number
  readonly differences: readonly FieldDifference[]
  /** The request body of the creation or update. */
  readonly body: Readonly<Record<string, unknown>>
}

/** `target` is the policy of the file with all defaults; `current` is the existing policy, if any. */
export function planStep(entry: PolicyFileEntry, target: PolicyBody, current: PolicyBody | undefined): PlanStep {
  const { name, publish } = entry
  if (!current) return { name, action: 'create', publish, differences: [], body: entry.policy }
  const differences = [...ownDifferences(current, target), ...contentDifferences(current.draft, target.draft)]
  const isPublished = current.published !== null && contentDifferences(current.published, target.draft).length === 0
  return {
    name,
    action: differences.length === 0 ? 'keep' : 'update',
    publish: publish && !isPublished,
    id: current.id,
    revision: current.revision,
    differences,
    body: Object.fromEntries(differences.map(({ field, after }) => [field, after])),
  }
}

const ownDifferences = (before: PolicyBody, after: PolicyBody): FieldDifference[] =>
  (['name', 'description'] as const)
    .map((field) => ({ field, before: before[field], after: after[field] }))
    .filter((each) => each.before !== each.after)

export const isIdle = ({ action, publish }: PlanStep): boolean => action === 'keep' && !publish
