import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createExamine } from './examine.ts'
import { planFor } from './plan.ts'
import { emptyRulebook } from './rulebook.ts'

const scores = { 'self-harm': 0, 'sexual/minors': 0, harassment: 0, hate: 0, illicit: 0, sexual: 0 }
const classification = { scores, flagged: [] }
const plan = planFor(emptyRulebook, {
  model: 'm',
  project: 'p',
  user: undefined,
  credentialId: 'k',
  metadata: {},
  target: undefined,
  policyIds: [],
  flaggedCategories: [],
})

/** How often others had their turn while these texts were examined. */
async function pausesFor(texts: readonly string[]): Promise<number> {
  let pauses = 0
  const examine = createExamine({
    screen: () => ({ classification, termHits: [], personalData: [] }),
    pause: async () => void (pauses += 1),
    canRephrase: false,
    failsOpen: false,
    memory: 0,
  })
  await examine(plan, { texts, direction: 'request' })
  return pauses
}

describe('examining the texts of a request', () => {
  it('keeps nobody waiting for a few', async () => {
    assert.equal(await pausesFor(Array.from({ length: 50 }, () => 'a word or two')), 0)
  })

  it('lets others have their turn between many, however short they are', async () => {
    assert.ok((await pausesFor(Array.from({ length: 20_000 }, () => 'x'))) >= 10)
    assert.ok((await pausesFor(Array.from({ length: 20 }, () => 'x'.repeat(50_000)))) >= 10)
  })
})
