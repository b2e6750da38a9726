import { count, percent } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import type { GateUpdate, PublishGate } from './gate-queries.ts'

type Gate = PublishGate['effective']
export type GateSection = keyof Gate
export type GateFields = Partial<Omit<Gate['replay'] & Gate['shadow'] & Gate['approvals'] & Gate['judge'], 'level'>>

export const sectionNames = [
  'cases',
  'replay',
  'shadow',
  'approvals',
  'judge',
] as const satisfies readonly GateSection[]

/** The numbers of a section, in their order. */
export const fieldsOf = (section: Gate[GateSection]): (keyof GateFields)[] =>
  Object.keys(section).filter((name) => name !== 'level') as (keyof GateFields)[]

/** The numbers of a condition in words, without those that limit nothing; none if the condition is off. */
export function limitsOf(section: Gate[GateSection]): readonly string[] {
  if (section.level === 'off') return []
  const values = section as GateFields
  return fieldsOf(section).flatMap((field) => {
    const value = values[field]
    if (typeof value !== 'number') return []
    return [words.gate.limits[field](field.endsWith('_bp') ? percent(value / 10_000) : count(value))]
  })
}

/** What differs from the gate of the organization. Only that is kept with a policy, so that the rest follows the organization. */
export function gateChanges(organization: Gate | undefined, form: Gate): Omit<GateUpdate, 'revision'> {
  if (organization === undefined) return {}
  const changed = sectionNames.flatMap((section) => {
    const before = Object.entries(organization[section])
    const fields = Object.entries(form[section]).filter(
      ([name, value]) => before.find(([other]) => other === name)?.[1] !== value,
    )
    return fields.length === 0 ? [] : [[section, Object.fromEntries(fields)] as const]
  })
  return Object.fromEntries(changed)
}
