import type { PolicyBody } from '../../http/admin/policies/schema.ts'
import { contentDifferences, policyDiffLines, signedLine, type FieldDifference } from './diff.ts'
import type { PolicyFileEntry } from './file.ts'

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

/** The plan as text: what is created, changed and published. */
export function planLines(steps: readonly PlanStep[]): string[] {
  const count = (test: (step: PlanStep) => boolean): number => steps.filter(test).length
  const summary = [
    `${count(({ action }) => action === 'create')} to create`,
    `${count(({ action }) => action === 'update')} to change`,
    `${count(({ publish }) => publish)} to publish`,
    `${count(isIdle)} unchanged`,
  ]
  return [...steps.filter((step) => !isIdle(step)).flatMap(stepLines), `Plan: ${summary.join(', ')}.`]
}

function stepLines(step: PlanStep): string[] {
  const words = [...(step.action === 'keep' ? [] : [step.action]), ...(step.publish ? ['publish'] : [])]
  const where = step.id === undefined ? '' : ` (${step.id}, revision ${step.revision})`
  const details =
    step.action === 'create'
      ? Object.entries(step.body).flatMap(([field, value]) => signedLine('+', field, value))
      : step.differences.flatMap(policyDiffLines)
  return [`${words.join(' and ')} ${step.name}${where}`, ...details.map((line) => `    ${line}`)]
}
