import { Fault } from '../../base/fault.ts'

type Fields = Readonly<Record<string, unknown>>

/** The fields that a change of a channel or rule changed, with their values before it. Empty if it changed nothing. */
export function changesOf(before: Fields, after: Fields): Fields {
  const changed = Object.keys(after).filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
  if (changed.length === 0) return {}
  const pick = (fields: Fields): Fields => Object.fromEntries(changed.map((field) => [field, fields[field]]))
  return { ...pick(after), before: pick(before) }
}

export const invalidAlertField = (param: string, message: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${message}.`, { param })
