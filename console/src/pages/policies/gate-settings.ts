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
