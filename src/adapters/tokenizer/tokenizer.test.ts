import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '../../base/clock.ts'
import { createTokenizer } from './tokenizer.ts'

const long = 'The quick brown fox jumps over the lazy dog. '.repeat(30_000)

describe('the tokenizer', () => {
  it('counts a short text of one caller before earlier long texts of another', async () => {
    await using tokenizer = createTokenizer(systemClock)
    const ended: string[] = []
    const count = (caller: string, text: string): Promise<unknown> =>
      tokenizer.count([text], { queueKey: caller }).then(() => ended.push(caller))
    const all = Array.from({ length: 4 }, () => count('org_large', long))
    all.push(count('org_small', 'Hello there'))
    await Promise.all(all)
    assert.equal(ended[0], 'org_small')
  })
  it('counts a short text before earlier long texts of the same caller', async () => {
    await using tokenizer = createTokenizer(systemClock)
    const ended: string[] = []
    const count = (name: string, text: string): Promise<unknown> =>
      tokenizer.count([text], { queueKey: 'org_one' }).then(() => ended.push(name))
    await Promise.all([count('long', long), count('long', long), count('short', 'Hello there')])
    assert.deepEqual(ended, ['short', 'long', 'long'])
  })
  it('reports the counting method', async () => {
    await using tokenizer = createTokenizer(systemClock)
    const { count } = tokenizer
    assert.deepEqual(await count(['Hello there'], { queueKey: 'org_one' }), { tokens: 2, method: 'whole' })
    assert.deepEqual(await count([], { queueKey: 'org_one' }), { tokens: 0, method: 'whole' })
    assert.equal((await count([long], { queueKey: 'org_one' })).method, 'sample')
  })
  it('estimates by length if a caller has too many texts queued, without delaying other callers', async () => {
    await using tokenizer = createTokenizer(systemClock)
    const count = (caller: string) => tokenizer.count(['Hello there'], { queueKey: caller })
    const all = await Promise.all([...Array.from({ length: 17 }, () => count('org_many')), count('org_one')])
    assert.deepEqual(
      all.map(({ method }) => method),
      [...Array.from({ length: 16 }, () => 'whole'), 'length', 'whole'],
    )
    assert.equal((await count('org_many')).method, 'whole')
  })
  it('stops counting for a caller who has left', async () => {
    await using tokenizer = createTokenizer(systemClock)
    const leaving = new AbortController()
    const ended: string[] = []
    const left = tokenizer.count([long], { queueKey: 'org_one', signal: leaving.signal }).then(() => ended.push('left'))
    const stays = tokenizer.count([long], { queueKey: 'org_two' }).then(() => ended.push('stays'))
    leaving.abort()
    await Promise.all([left, stays])
    assert.deepEqual(ended, ['left', 'stays'])
    const gone = await tokenizer.count(['Hello there'], { queueKey: 'org_one', signal: leaving.signal })
    assert.equal(gone.method, 'length')
  })
})
