import type { Static } from 'typebox'
import { invalidField } from '../../validate.ts'
import { trafficSteps, type TrafficQuery } from './schema.ts'

const day = 86_400
const maxSteps = 3_000

/** Unix seconds, `to` exclusive, and the length of a step. */
export type SteppedSpan = { readonly from: number; readonly to: number; readonly step: number }

/** The period that a query names, extended to the start of its first step. */
export function spanOf(
  { from, to, step: name }: Pick<Static<typeof TrafficQuery>, 'from' | 'to' | 'step'>,
  now: number,
): SteppedSpan {
  const step = trafficSteps[name]
  const end = to ?? Math.ceil(now)
  const start = Math.floor((from ?? end - day) / step) * step
  if ((from ?? start) >= end) throw invalidField(['from'], 'must be before to')
  if ((end - start) / step > maxSteps) throw invalidField(['step'], `must divide the period into at most ${maxSteps}`)
  return { from: start, to: end, step }
}
