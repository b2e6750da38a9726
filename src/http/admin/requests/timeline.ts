import type { Static } from 'typebox'
import { isRecord } from '../../../base/record.ts'
import type { ChainedDocument } from '../../../domain/audit/event/document.ts'
import type { RequestDetailObject, RequestObject } from './schema.ts'

type Step = Static<typeof RequestDetailObject>['timeline'][number]

/** The steps of a request, from the times in its event. Events from before the steps were measured have none. */
export function timelineOf(document: ChainedDocument, request: Static<typeof RequestObject>): Step[] {
  const timing = document.unmapped.gatehouse['timing_us']
  if (!isRecord(timing)) return []
  const end = (name: string): number | undefined => numberIn(timing[name])
  const total = end('total') ?? 0
  const isAnswerDenied = document.unmapped.gatehouse['direction'] === 'response'
  const outcome = request.status === 'denied' ? 'denied' : request.error
  const steps: Step[] = []
  let at = 0
  const add = (step: Step['step'], until: number, rest: Pick<Step, 'outcome' | 'detail'> = succeeded): void => {
    steps.push({ step, at_ms: inMs(at), ms: inMs(Math.max(0, until - at)), ...rest })
    at = until
  }
  const failed = (step: Step['step']): Step[] => {
    add(step, total, { outcome, detail: null })
    return steps
  }
  add('accepted', end('accepted') ?? 0)
  const admitted = end('admitted')
  if (admitted === undefined) return failed('admitted')
  add('admitted', admitted)
  const checked = end('checked')
  if (checked === undefined) return failed('request_checks')
  add('request_checks', checked)
  for (const { upstream, code, ended } of failedAttemptsIn(timing['failed_attempts']))
    add('attempt', ended, { outcome: code, detail: { upstream } })
  const firstByte = end('first_byte')
  if (firstByte === undefined) return steps
  const detail = request.upstream === null ? null : { upstream: request.upstream }
  add('attempt', firstByte, { outcome: null, detail })
  steps.push({ step: 'first_byte', at_ms: inMs(firstByte), ms: 0, ...succeeded })
  add('answer', total, {
    outcome: isAnswerDenied || request.status === 'error' ? outcome : null,
    detail: answerDetailOf(document, end('held_back')),
  })
  return steps
}

const succeeded = { outcome: null, detail: null }

/** One decimal. */
const inMs = (us: number): number => Math.round(us / 100) / 10

const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** How much of the answer was checked before any of it was sent, and how long the part waited that waited longest. */
function answerDetailOf({ unmapped }: ChainedDocument, heldBackUs: number | undefined): Step['detail'] {
  const { coverage } = unmapped.gatehouse
  const detail = {
    ...(typeof coverage === 'string' && { coverage }),
    ...(heldBackUs !== undefined && { held_back_ms: inMs(heldBackUs) }),
  }
  return Object.keys(detail).length === 0 ? null : detail
}

function failedAttemptsIn(value: unknown): { upstream: string; code: string; ended: number }[] {
  if (!Array.isArray(value)) return []
  return value
    .filter(isRecord)
    .map(({ upstream, code, ended }) => ({ upstream: String(upstream), code: String(code), ended: Number(ended) }))
}
