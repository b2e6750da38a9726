import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createEmbeddedClassifier } from '../../adapters/classifiers/embedded/classifier.ts'
import { createReadAlong } from '../moderation/read-along.ts'
import { createScreen } from '../moderation/screen.ts'
import { createExamine } from './examine.ts'
import { createFollower, type Follower, type FollowParts } from './follow.ts'
import { holdingOf } from './holding.ts'
import { planFor } from './plan.ts'
import { emptyRulebook } from './rulebook.ts'

const classifier = createEmbeddedClassifier()
const pause = (): Promise<void> => Promise.resolve()
const examine = createExamine({
  screen: createScreen({ classifier, pause, memory: 0 }),
  pause,
  canRephrase: false,
  failsOpen: false,
  memory: 0,
})
const plan = planFor(emptyRulebook, {
  model: 'm',
  project: 'p',
  user: undefined,
  credentialId: 'k',
  metadata: {},
  target: undefined,
  policyIds: [],
  flaggedCategories: ['harassment', 'hate'],
})
const parts: FollowParts = { plan, holding: holdingOf(plan, false), examine, glance: examine, pause }

/** As short as anything hidden may be, so that looks fall into it. */
const hidden = Buffer.from('go kill yourself now').toString('base64')
const words = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.constantFrom('the', 'gate', 'of a town', 'was', 'open,', 'it’s', 'naïve', '\n\n', '🙂'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'I want to kill myself',
      'you stupid idiot',
      hidden,
      'go and %6bill %79ourself right now, %49 say, and be dea%64',
      'k i l l',
      'убить',
    ),
  },
)
const texts = fc.array(words, { maxLength: 250, size: 'max' }).map((list) => list.join(' '))
const pieces = fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.boolean()), {
  minLength: 10,
  maxLength: 120,
  size: 'max',
})

/** All that a follower says about a text that comes in such pieces, with a look ahead after some of them. */
async function told(follower: Follower, text: string, steps: readonly (readonly [number, boolean])[]) {
  const said: unknown[] = []
  let at = 0
  for (const [length, looksAhead] of steps) {
    const denied = await follower.push(text.slice(at, at + length))
    at += length
    if (looksAhead) await follower.lookAhead(32)
    said.push([denied?.findings, follower.cleared()])
    if (denied !== undefined) return said
  }
  return [...said, await follower.end()]
}

describe('a follower that reads along', () => {
  it('says what one says that reads every window anew', async () => {
    await fc.assert(
      fc.asyncProperty(texts, pieces, async (text, steps) => {
        const along = createFollower({ ...parts, readAlong: createReadAlong(classifier) })
        assert.deepEqual(await told(along, text, steps), await told(createFollower(parts), text, steps))
      }),
      { numRuns: 200 },
    )
  })
})
