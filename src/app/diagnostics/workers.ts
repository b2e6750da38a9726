import { availableParallelism } from 'node:os'
import { messageOf } from '../../base/fault.ts'
import { plural } from '../../base/plural.ts'
import type { Config } from '../../config/config.ts'
import { workerCount } from '../../config/worker-count.ts'
import type { Diagnosis } from './diagnosis.ts'

/** `metrics` is the text of `/metrics`; undefined if no server answers. */
export function checkWorkers(
  config: Pick<Config, 'server' | 'storage'>,
  metrics: string | undefined,
  cores = availableParallelism(),
): Diagnosis[] {
  const part = 'workers'
  let count: number
  try {
    count = workerCount(config, cores)
  } catch (error) {
    return [{ part, state: 'wrong', message: messageOf(error) }]
  }
  if (config.server.workers === 1) return []
  const configured = `${plural(count, 'worker')} on ${plural(cores, 'core')}`
  if (count === 1) return [{ part, state: 'ok', message: `${configured}: more need PostgreSQL and Redis` }]
  if (metrics === undefined) return [{ part, state: 'ok', message: configured }]
  const down = workersWith(metrics, 'gatehouse_worker_up').filter(({ value }) => value === 0)
  const restarts = workersWith(metrics, 'gatehouse_worker_restarts_total').reduce((sum, { value }) => sum + value, 0)
  const history = restarts === 0 ? '' : `; ${plural(restarts, 'restart')} after a crash`
  if (down.length === 0) return [{ part, state: 'ok', message: `${configured}, all answer${history}` }]
  const names = down.map(({ worker }) => worker).join(', ')
  const fix = 'The log of the server has the reason: search for "a worker ended".'
  return [{ part, state: 'warning', message: `${configured}, without an answer: ${names}${history}`, fix }]
}

const workersWith = (metrics: string, name: string) =>
  [...metrics.matchAll(new RegExp(`^${name}\\{worker="(\\d+)"\\} (\\S+)$`, 'gm'))].map(([, worker = '', value]) => ({
    worker,
    value: Number(value),
  }))
