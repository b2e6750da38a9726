import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { textOf } from '../support/administration.ts'
import { openAppealScene } from '../support/appeal-scene.ts'
import { openCommandLine } from '../support/command-line.ts'

describe('gatehouse appeals', () => {
  it('lists, shows without the decision, labels, closes with a case, and opens', async () => {
    await using scene = await openCommandLine()
    await using app = await openAppealScene({
      config: { storage: { data_dir: scene.dataDir }, audit: { content: 'full' } },
    })
    const { event_id: eventId } = await app.deny()
    const id = textOf((await app.appeal(String(eventId))).body)
    const listed = await scene.call('appeals', 'list', '--state', 'open')
    assert.match(listed.output, new RegExp(`${id} +open +.*No code names +- +-`))
    const shown = await scene.call('appeals', 'show', id, '--texts')
    assert.match(shown.output, /request +A falcon is a bird of prey\./)
    assert.match(shown.output, /The decision is shown once you have labelled the appeal\./)
    assert.doesNotMatch(shown.output, /claim|decided/)
    const labelled = await scene.call('appeals', 'review', id, '--should', 'no_match')
    assert.match(labelled.output, /decided +refuse; effect: refuse; score 10000 of 5000/)
    assert.match(labelled.output, /label +no_match by operator/)
    const wrong = await scene.call('appeals', 'resolve', id, '--outcome', 'upheld')
    assert.deepEqual([wrong.status, /is overturned, not upheld/.test(wrong.errors)], [1, true])
    const resolution = ['--outcome', 'overturned', '--case', '--says', 'the bird', '--threshold', '9999']
    resolution.push('--exception', 'text', '--until', '7d', '--exception-reason', 'Birds are fine')
    const closed = await scene.call('appeals', 'resolve', id, ...resolution)
    assert.match(closed.output, /state +overturned/)
    assert.match(closed.output, /case +case_/)
    assert.match(closed.output, /draft +changed, revision 3/)
    assert.match(closed.output, /exception +exc_/)
    assert.equal((await app.ask('A falcon is a bird of prey.')).status, 200)
    const labels = await scene.call('appeals', 'labels', '--event', String(eventId), '--should', 'no_match')
    assert.match(labels.output, new RegExp(`lbl_\\w+ +no_match +yes +operator .* ${id}`))
    const none = await scene.call('appeals', 'labels', '--should', 'match', '--json')
    assert.deepEqual((JSON.parse(none.output) as { data: unknown[] }).data, [])
    const { requestId } = await app.ask('Hello')
    const { event_id: other } = await app.admin.get(`/requests/${requestId}`)
    const claim = ['--claim', 'should_be_denied', '--note', 'Too kind.']
    const opened = await scene.json('appeals', 'open', '--event', String(other), ...claim)
    assert.deepEqual([opened.state, opened.event_id], ['open', other])
  })

  it('says which option is missing', async () => {
    await using scene = await openCommandLine()
    const overturned = ['resolve', 'apl_1', '--outcome', 'overturned']
    const incomplete = [
      [...overturned, '--exception', 'user'],
      [...overturned, '--until', '7d'],
    ]
    for (const args of [['review', 'apl_1'], ['resolve', 'apl_1'], ['show'], ['open'], ['nothing'], ...incomplete])
      assert.equal((await scene.call('appeals', ...args)).status, 2, args.join(' '))
  })
})
