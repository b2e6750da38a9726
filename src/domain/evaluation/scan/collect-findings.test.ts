import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { plainContext } from '../../../../test/support/evaluation-context.ts'
import { prefilterOf } from '../../../../test/support/policy-prefilter.ts'
import { policyOf } from '../../../../test/support/rule-policy.ts'
import { perCategory } from '../../scan/classify/categories.ts'
import { createCollectFindings } from './collect-findings.ts'
import { planFor } from '../plan.ts'
import { emptyRulebook } from '../rulebook.ts'

const classification = { scores: perCategory(() => 0), flagged: [] }
const plan = planFor(emptyRulebook, plainContext)

/** How often the scan of these texts yields to the event loop, in the last of several scans. */
async function pausesFor(texts: readonly string[], times = 1): Promise<number> {
  let pauses = 0
  const collectFindings = createCollectFindings({
    scanText: () => ({ classification, termHits: [], personalData: [] }),
    pause: async () => void (pauses += 1),
    prefilterOf,
    cacheEntries: times === 1 ? 0 : texts.length * 2,
  })
  for (let time = 0; time < times; time++) {
    pauses = 0
    await collectFindings(plan, { texts, direction: 'request' })
  }
  return pauses
}

describe('collecting the findings of a request', () => {
  it('does not yield for a few texts', async () => {
    assert.equal(await pausesFor(Array.from({ length: 50 }, () => 'a word or two')), 0)
  })

  it('yields to the event loop between many texts, however short they are', async () => {
    assert.ok((await pausesFor(Array.from({ length: 20_000 }, () => 'x'))) >= 10)
    assert.ok((await pausesFor(Array.from({ length: 20 }, () => 'x'.repeat(50_000)))) >= 10)
  })

  it('yields between many texts that are cached', async () => {
    assert.ok(
      (await pausesFor(
        Array.from({ length: 20_000 }, () => 'x'),
        2,
      )) >= 10,
    )
  })

  it('caches scores by the facts of the caller, so that no caller gets the scores of another', async () => {
    const scan = { classification, termHits: [], personalData: [] }
    const parts = { scanText: () => scan, pause: async () => undefined, prefilterOf, cacheEntries: 4 }
    const collectFindings = createCollectFindings(parts)
    const rulebook = { ...emptyRulebook, policies: [policyOf('cel:user == "ann"')] }
    // More callers than the cache has entries, and each of them twice.
    for (const user of ['ann', 'bob', 'ann', 'bob', 'eve', 'dan', 'joe', 'kim', 'ann', 'bob']) {
      const { scores } = await collectFindings(planFor(rulebook, { ...plainContext, user }), {
        texts: ['the same text'],
        direction: 'request',
      })
      assert.deepEqual(scores, [[{ basisPoints: user === 'ann' ? 10_000 : 0 }]])
    }
  })

  it('caches texts by the modes of prompt injections, so that one is found once it is searched for', async () => {
    const scan = { classification, termHits: [], personalData: [], injection: 0.9 }
    const parts = { scanText: () => scan, pause: async () => undefined, prefilterOf, cacheEntries: 64 }
    const collectFindings = createCollectFindings(parts)
    const texts = Array.from({ length: 40 }, (_, at) => `text ${at}`)
    const places = new Map(texts.map((text) => [text, ['user_text'] as const]))
    const found = async (mode: 'off' | 'monitor') => {
      const { gateway } = emptyRulebook
      const rules = {
        ...gateway.config.rules,
        prompt_injection: { tool_results: 'off', documents: 'off', user_text: mode },
      } as const
      // A rule reads the place, so it is scanned also where the configuration is off.
      const rulebook = {
        ...emptyRulebook,
        gateway: { ...gateway, config: { ...gateway.config, rules } },
        policies: [policyOf('cel:prompt_injection.user_text > 0.99')],
      }
      const { findings } = await collectFindings(planFor(rulebook, plainContext), {
        texts,
        places,
        direction: 'request',
      })
      return findings.injections
    }
    assert.deepEqual(await found('off'), {})
    assert.deepEqual(await found('monitor'), { user_text: 0.9 })
  })
})
