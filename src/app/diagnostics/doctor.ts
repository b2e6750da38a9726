import { existsSync } from 'node:fs'
import { systemClock } from '../../base/clock.ts'
import { messageOf } from '../../base/fault.ts'
import type { Config, Environment } from '../../config/config.ts'
import { checks, type DoctorContext } from './checks.ts'
import type { Diagnosis } from './diagnosis.ts'
import { checkRuntime } from './node.ts'
import { readRunningMetrics } from './running-metrics.ts'

/** Checks everything that a start needs, one after the other. Nothing else can be checked with a wrong configuration. */
export async function diagnose(
  readConfig: () => Config,
  env: Environment,
  options: DoctorContext['options'],
): Promise<Diagnosis[]> {
  const part = 'configuration'
  let config: Config
  try {
    config = readConfig()
  } catch (error) {
    const fix = 'docs/configuration.md lists every key.'
    return [checkRuntime(), { part, state: 'wrong', message: messageOf(error), fix }]
  }
  const context = { config, env, options, metrics: await readRunningMetrics(config), nowMs: systemClock.nowMs() }
  const found: Diagnosis[] = []
  for (const { doctor } of checks) found.push(...((await doctor?.(context)) ?? []))
  const file = env['GATEHOUSE_CONFIG'] || (existsSync('./gatehouse.yaml') ? './gatehouse.yaml' : 'defaults')
  return found.toSpliced(1, 0, { part, state: 'ok', message: file })
}
