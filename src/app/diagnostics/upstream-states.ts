import type { Upstreams } from '../../domain/inference/upstream-status.ts'
import type { Diagnosis } from './diagnosis.ts'

/** From the calls of this node. */
export const upstreamStates = (upstreams: Pick<Upstreams, 'list'>): Diagnosis[] =>
  upstreams.list().map(({ name, state, failures, lastError }) => {
    const part = `upstream ${name}`
    if (state === 'ok') return { part, state, message: 'the last call succeeded' }
    if (state === 'unknown') return { part, state: 'ok', message: 'not called since the start' }
    const message = `the last ${failures === 1 ? 'call' : `${failures} calls`} failed (${lastError?.code ?? 'unknown'})`
    return { part, state: 'warning', message, fix: `gatehouse upstreams probe ${name}` }
  })
