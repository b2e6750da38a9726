import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { plainContext } from '../../../../test/support/evaluation-context.ts'
import { perCategory } from '../../moderation/categories.ts'
import { createCollectFindings } from './collect-findings.ts'
import { planFor } from '../rules/plan.ts'
import { emptyRulebook } from '../rules/rulebook.ts'

const classification = { scores: perCategory(() => 0), flagged: [] }
const plan = planFor(emptyRulebook, plainContext)

/** How often others had their turn while these texts were looked at, for the last of several times. */
async function pausesFor(texts: readonly string[], times = 1): Promise<number> {
  let pauses = 0
  const look = createCollectFindings({
    screen: () => ({ classification, termHits: [], personalData: [] }),
    pause: async () => void (pauses += 1),
    memory: times === 1 ? 0 : texts.length * 2,
  })
  for (let time = 0; time < times; time++) {
    pauses = 0
    await look(plan, { texts, direction: 'request' })
  }
  return pauses
}

describe('a look at the texts of a request', () => {
  it('keeps nobody waiting for a few', async () => {
    assert.equal(await pausesFor(Array.from({ length: 50 }, () => 'a word or two')), 0)
  })

  it('lets others have their turn between many, however short they are', async () => {
    assert.ok((await pausesFor(Array.from({ length: 20_000 }, () => 'x'))) >= 10)
    assert.ok((await pausesFor(Array.from({ length: 20 }, () => 'x'.repeat(50_000)))) >= 10)
  })

  it('lets others have their turn between many that it has seen before', async () => {
    assert.ok(
      (await pausesFor(
        Array.from({ length: 20_000 }, () => 'x'),
        2,
      )) >= 10,
    )
  })
})
