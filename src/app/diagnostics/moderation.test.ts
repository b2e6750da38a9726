import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFakeEncoder, opens, opensNothing } from '../../../test/support/fake-encoder.ts'
import { checkConfig, type Config } from '../../config/config.ts'
import { checkModeration } from './moderation.ts'
import type { World } from '../world.ts'

type Open = NonNullable<World['openEncoder']>

const check = (encoder: Config['moderation']['encoder'], open: Open) =>
  checkModeration(checkConfig({ moderation: { encoder } }), open)

const answering = createFakeEncoder(() => ({ 'self-harm': 3 }))
const failing = createFakeEncoder(() => Promise.reject(new Error('no memory')))

describe('the doctor on moderation', () => {
  it('names the versions of both stages, and classifies a text', async () => {
    const { state, message } = await check('auto', opens(answering))
    assert.equal(state, 'ok')
    assert.match(message, /^embedded classifier \S+, then encoder 1; a text took \d+ ms$/)
  })

  it('says that the encoder is off by configuration', async () => {
    const { state, message } = await check('off', () => assert.fail('the encoder is not opened'))
    assert.equal(state, 'ok')
    assert.match(message, /the encoder is off \(moderation\.encoder\)/)
  })

  it('says why there is no encoder, and that this is wrong only if one is required', async () => {
    const optional = await check('auto', opensNothing)
    assert.deepEqual([optional.state, optional.fix], ['ok', undefined])
    assert.match(optional.message, /alone\. The package .* is not installed/)
    assert.equal((await check('required', opensNothing)).state, 'wrong')
  })

  it('warns of a package that cannot be used', async () => {
    const { state, message } = await check(
      'auto',
      opens(answering, { state: 'off', problem: { code: 'wrong_digest', message: 'It is damaged.' } }),
    )
    assert.equal(state, 'warning')
    assert.match(message, /It is damaged/)
  })

  it('warns of an encoder that does not answer', async () => {
    const { state, message } = await check('auto', opens(failing))
    assert.equal(state, 'warning')
    assert.match(message, /did not classify a text: no memory/)
    assert.equal((await check('required', opens(failing))).state, 'wrong')
  })

  it('warns of an encoder whose thread ends while it loads the model, which is wrong if one is required', async () => {
    const dying = opens(answering, { state: 'restarting' })
    const { state, message } = await check('auto', dying)
    assert.equal(state, 'warning')
    assert.match(message, /alone\. The thread of the encoder is restarting/)
    assert.equal((await check('required', dying)).state, 'wrong')
  })
})
