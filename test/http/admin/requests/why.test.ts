import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addPolicy,
  decidingOf,
  denials,
  markedIn,
  openDenialScene,
  setGateway,
  type Marked,
} from '../../../support/denial-scene.ts'

const insult = 'All immigrants are filthy vermin and must be exterminated.'

describe('why a request was denied', () => {
  for (const { check, text, marked, setUp } of denials) {
    it(`names the check ${check} and the words that matched, for a request`, async () => {
      await using scene = await openDenialScene()
      await setUp(scene)
      const detail = await scene.ask({ prompt: text })
      assert.deepEqual([detail.status, detail.check, detail.direction], ['denied', check, 'request'])
      assert.deepEqual([decidingOf(detail)?.check, decidingOf(detail)?.is_enforced], [check, true])
      assert.deepEqual(markedIn(detail.content?.prompt as Marked).map(trimRole), [marked])
      assert.equal(detail.content?.response.withheld_from, null)
    })

    for (const stream of [false, true])
      it(`names the check ${check} and the words that matched, for a ${stream ? 'stream' : 'whole response'}`, async () => {
        await using scene = await openDenialScene()
        await setUp(scene)
        const opening = 'Here is what I know about it. '.repeat(stream ? 20 : 1)
        const detail = await scene.ask({ answer: opening + text, stream })
        assert.deepEqual([detail.check, detail.direction, decidingOf(detail)?.check], [check, 'response', check])
        const response = detail.content?.response
        assert.ok(response?.withheld_from !== null && response?.withheld_from !== undefined)
        assert.equal(response.text, opening + text)
        if (!stream) assert.equal(response.withheld_from, 0)
        assert.deepEqual(markedIn(response), [marked])
        assert.ok((response.evidence[0]?.end ?? 0) > response.withheld_from, 'what matched was sent whole')
      })
  }

  it('names the requested category', async () => {
    await using scene = await openDenialScene()
    const detail = await scene.ask({ prompt: insult, more: { flagged_categories: ['hate'] } })
    assert.deepEqual([detail.check, decidingOf(detail)?.categories], ['requested', ['hate']])
  })

  it('names the configuration, its version and its term, also without kept texts', async () => {
    await using scene = await openDenialScene('none')
    await setGateway(scene, { denylist: ['project heron', 'project condor'] })
    const detail = await scene.ask({ prompt: 'What is project condor?' })
    await setGateway(scene, { denylist: [] })
    const { name, version, terms } = decidingOf(detail) ?? {}
    assert.deepEqual(
      [name, version, terms, detail.policy_name],
      ['Acceptable use', 1, ['project condor'], 'Acceptable use'],
    )
    assert.equal(detail.content, null)
  })

  it('counts the personal data that was replaced', async () => {
    await using scene = await openDenialScene()
    await setGateway(scene, { redact: true })
    const detail = await scene.ask({ prompt: 'Call me at +49 170 1234567 or write to ada@example.com' })
    assert.equal(detail.status, 'ok')
    assert.deepEqual(decidingOf(detail)?.personal_data, [
      { kind: 'email', count: 1 },
      { kind: 'phone', count: 1 },
    ])
  })

  it('says if a request contains none of the allowed terms', async () => {
    await using scene = await openDenialScene()
    await setGateway(scene, { allowlist: ['invoice'] })
    const detail = await scene.ask({ prompt: 'Tell me a joke' })
    assert.deepEqual([decidingOf(detail)?.check, decidingOf(detail)?.has_no_allowed_term], ['gateway', true])
  })
})

describe('the checks of a request', () => {
  it('are all listed, each enforced or monitoring on its own', async () => {
    await using scene = await openDenialScene()
    await setGateway(scene, { redact: true })
    await addPolicy(scene, { name: 'No medical advice', rule: 'cel:text.contains("aspirin")', mode: 'monitoring' })
    await addPolicy(scene, { name: 'No code names', rule: 'cel:text.contains("falcon")' })
    const detail = await scene.ask({
      prompt: 'Send aspirin to ada@example.com',
      more: { flagged_categories: ['hate'] },
    })
    assert.deepEqual(
      detail.outcomes.map(({ check, name, decision, is_enforced: isEnforced, is_deciding: isDeciding }) => [
        check,
        name,
        decision,
        isEnforced,
        isDeciding,
      ]),
      [
        ['always_blocked', null, 'allow', true, false],
        ['requested', null, 'allow', true, false],
        ['gateway', 'Acceptable use', 'redact', true, true],
        ['policy', 'No medical advice', 'refuse', false, false],
        ['policy', 'No code names', 'allow', true, false],
      ],
    )
  })

  it('include a gateway configuration that is only observed', async () => {
    await using scene = await openDenialScene()
    await setGateway(scene, { denylist: ['condor'] }, { rollout: { shadow: { enabled: true } } })
    await addPolicy(scene, { name: 'No code names', rule: 'cel:text.contains("falcon")' })
    const detail = await scene.ask({ prompt: 'the condor and the falcon' })
    const gateway = detail.outcomes.find(({ check }) => check === 'gateway')
    assert.deepEqual([gateway?.decision, gateway?.is_enforced, gateway?.terms], ['refuse', false, ['condor']])
    assert.deepEqual([detail.check, decidingOf(detail)?.name], ['policy', 'No code names'])
  })
})

describe('a withheld response', () => {
  it('is kept without personal data if only redacted texts are kept', async () => {
    await using scene = await openDenialScene('redacted')
    await addPolicy(scene, { name: 'No code names', rule: 'cel:text.contains("falcon")', direction: 'response' })
    const detail = await scene.ask({ answer: 'Write to ada@example.com about the falcon.' })
    const response = detail.content?.response
    assert.doesNotMatch(JSON.stringify(detail), /ada@example\.com/)
    assert.deepEqual([response?.withheld_from, response && markedIn(response)], [0, ['falcon']])
  })

  it('is not sent to the destinations of the audit log as a response', async () => {
    await using scene = await openDenialScene('full')
    await addPolicy(scene, { name: 'No code names', rule: 'cel:text.contains("falcon")', direction: 'response' })
    await scene.ask({ answer: 'about the falcon' })
    const exported = await scene.get('/v1/organization/audit_logs/export?content=full', {
      authorization: `Bearer ${scene.adminKey}`,
    })
    assert.doesNotMatch(await exported.text(), /about the falcon/)
  })
})

const trimRole = (text: string): string => text.replace(/^user: /, '')
