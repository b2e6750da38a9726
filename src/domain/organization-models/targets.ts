import { isRecord } from '../../base/record.ts'
import type { Configuration } from '../audit/export/configuration.ts'

/** The targets in the settings of a model, in order. */
export function targetsIn({ targets }: Configuration): { readonly upstream: string; readonly model?: string }[] {
  if (!Array.isArray(targets)) return []
  return targets.flatMap((target: unknown) => {
    if (!isRecord(target) || typeof target['upstream'] !== 'string') return []
    const { upstream, model } = target
    return [{ upstream, ...(typeof model === 'string' && { model }) }]
  })
}
