import { createReplaySampler } from '../domain/audit/replay-sample.ts'
import { redactIrreversibly } from '../domain/scan/detect/personal-data/redact.ts'
import type { KeptTextsParts } from '../pipeline/kept-texts.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { Stores } from './stores.ts'

/** Which texts of requests are stored, as configured. */
export function keptTextsOf({ config, ids, random }: Infrastructure, { encryptions }: Stores): KeptTextsParts {
  const { content, replay_sample: sample } = config.audit
  const texts = { content, redact: redactIrreversibly }
  if (sample === undefined) return texts
  const { per_hour: perHour } = sample
  const sampler = createReplaySampler({ perHour, random, encryption: encryptions.replaySample })
  return { ...texts, sampling: { sampler, ids } }
}
