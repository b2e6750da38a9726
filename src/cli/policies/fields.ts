import { readFileSync } from 'node:fs'
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
    rule: values['rule-file'] === undefined ? values.rule : readFileSync(values['rule-file'], 'utf8').trim(),
    direction,
    mode,
    scope,
    project_ids: projects === undefined ? undefined : listOf(projects),
    match_threshold_basis_points: threshold === undefined ? undefined : thresholdOf(threshold),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

const listOf = (text: string): string[] => (text === '' ? [] : text.split(',').map((word) => word.trim()))

const thresholdOf = (text: string): number | null => (text === 'none' ? null : wholeNumber(text, '--threshold'))

export function wholeNumber(text: string, name: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new UsageError(`${name} must be a whole number.`)
}
