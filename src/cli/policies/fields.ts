import { readFileSync } from 'node:fs'
import { readList } from '../arguments.ts'
import { UsageError } from '../command.ts'

/** The options that say what a policy is to be. */
export const fieldOptions = {
  name: { type: 'string' },
  description: { type: 'string' },
  rule: { type: 'string' },
  'rule-file': { type: 'string' },
  direction: { type: 'string' },
  mode: { type: 'string' },
  scope: { type: 'string' },
  projects: { type: 'string' },
  threshold: { type: 'string' },
} as const

type FieldValues = { readonly [Option in keyof typeof fieldOptions]?: string | undefined }

/** The fields that were given, by the names of the API. */
export function fieldsOf(values: FieldValues): Record<string, unknown> {
  const { name, description, direction, mode, scope, projects, threshold } = values
  const fields = {
    name,
    description,
    rule: ruleOf(values),
    direction,
    mode,
    scope,
    project_ids: readList(projects),
    match_threshold_basis_points: threshold === undefined ? undefined : thresholdOf(threshold),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function ruleOf({ rule, 'rule-file': file }: FieldValues): string | undefined {
  if (file === undefined) return rule
  if (rule !== undefined) throw new UsageError('Say --rule or --rule-file, not both.')
  return readFileSync(file, 'utf8').trim()
}

const thresholdOf = (text: string): number | null => (text === 'none' ? null : wholeNumber(text, '--threshold'))

export function wholeNumber(text: string, name: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new UsageError(`${name} must be a whole number.`)
}
