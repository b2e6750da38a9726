import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AdminApp } from '../support/administration.ts'
import { publish, startScene, withJudge } from '../support/judge-scene.ts'
import { answerWith } from '../support/paid-app.ts'
import { answerJson } from '../support/upstream.ts'
import { operatorOf } from '../support/operator.ts'

const sendText = (app: AdminApp, content: string) =>
  app.post('/v1/messages', { model: 'default-model', max_tokens: 50, messages: [{ role: 'user', content }] })

describe('an evaluation without sending a request', () => {
  it('asks the judge as a request would, unless it is told not to, and never the requested model', async () => {
    await using scene = await startScene(withJudge())
    scene.judge.answer(answerWith('{"score": 0.9}', { input: 200, output: 8 }))
    await publish(scene.app, 'Be polite.')
    const evaluate = async (more: object) => {
      const body = { scenario: { text: 'You fool', model: 'default-model' }, ...more }
      const { verdict, outcomes, evidence } = await scene.app.admin.post('/evaluate', body)
      const { decision, effective_decision: effective } = verdict as Record<string, unknown>
      const policy = (outcomes as Record<string, unknown>[]).find(({ check }) => check === 'policy')
      return { decision, effective, policy, evidence: evidence as Record<string, unknown>[] }
    }
    const skipped = await evaluate({ judge: false })
    assert.deepEqual([skipped.decision, skipped.effective], ['not_evaluated', 'allow'])
    assert.equal(skipped.policy?.['not_evaluated'], 'judge_not_asked')
    assert.equal(scene.judge.requests.length, 0)
    const judged = await evaluate({})
    assert.deepEqual([judged.decision, judged.effective], ['refuse', 'refuse'])
    assert.deepEqual(
      judged.evidence.map(({ kind, text, score_bp: score }) => [kind, text, score]),
      [['judge', 'You fool', 9000]],
    )
    assert.equal(scene.judge.requests.length, 1)
    assert.equal((await sendText(scene.app, 'You fool')).status, 400)
    assert.equal(scene.upstream.requests.length, 0)
  })
})

describe('the event of a request', () => {
  it('names the judge that evaluated its rules, with the digest of the prompt', async () => {
    await using scene = await startScene(withJudge())
    scene.judge.answer(answerWith('{"score": 0.9}', { input: 200, output: 8 }))
    await publish(scene.app, 'Be polite.', { match_threshold_basis_points: 8_000 })
    assert.equal((await sendText(scene.app, 'You fool')).status, 400)
    const { data } = await scene.app.admin.get('/audit_logs?kind=gateway.request.decided')
    const [{ details }] = data as [{ details: Record<string, unknown> }]
    assert.match(String(details['judge']), /^judge-model@[0-9a-f]{12}$/)
    const [result] = details['results'] as Record<string, unknown>[]
    assert.deepEqual([result?.['score_bp'], result?.['threshold_bp']], [9_000, 8_000])
  })
})

describe('a policy in force', () => {
  for (const [rule, rejected, passed] of [
    ['cel:text.lowerAscii().contains("falcon") && direction == "request"', 'About Falcon', 'About condor'],
    ['cel:text.matches("(?i)project\\\\s+x\\\\b") ? 0.8 : 0.1', 'my Project  X', 'my project y'],
    ['cel:pii["email"] > 1', 'a@example.com and b@example.com', 'a@example.com alone'],
    ['Never mention "Project Falcon".', 'about PROJECT FALCON', 'about projects'],
    ['No email addresses.', 'write to ann@example.com', 'write to ann'],
  ] as const) {
    it(`denies requests that match its rule and no others: ${rule}`, async () => {
      await using scene = await startScene()
      await publish(scene.app, rule)
      assert.equal((await sendText(scene.app, rejected)).status, 400)
      assert.equal((await sendText(scene.app, passed)).status, 200)
      assert.equal(scene.upstream.requests.length, 1)
    })
  }

  it('applies to a request without text if its rule needs none', async () => {
    await using scene = await startScene()
    await publish(scene.app, 'cel:user == "intern"')
    const image_url = { url: 'https://example.com/cat.png' }
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url }] }]
    const send = (user: string) => scene.app.post('/v1/chat/completions', { model: 'default-model', user, messages })
    assert.equal((await send('intern')).status, 400)
    assert.equal((await send('ada')).status, 200)
  })

  it('whose rule fails on a request denies it, because a failed evaluation is not a pass', async () => {
    await using scene = await startScene()
    await publish(scene.app, 'cel:metadata.missing == "x"')
    const answer = await sendText(scene.app, 'Hello')
    assert.equal(answer.status, 400)
    assert.partialDeepStrictEqual(await answer.json(), { policy: { decision: 'not_evaluated' } })
  })

  it('whose rule takes too much time on a text denies it, and continues with others', async () => {
    await using scene = await startScene({ expression_time_ms: 1 })
    await publish(scene.app, 'cel:text.matches("(a|b)*a(a|b){20}[cd]")')
    const hostile = Array.from({ length: 300_000 }, (_, at) => 'ab'.charAt((at * at + (at >> 3)) % 2)).join('')
    const answer = await sendText(scene.app, hostile)
    assert.equal(answer.status, 400)
    assert.partialDeepStrictEqual(await answer.json(), {
      policy: { decision: 'not_evaluated', reason_code: 'NOT_EVALUATED' },
    })
    assert.equal((await sendText(scene.app, 'Hello')).status, 200)
    assert.equal(scene.upstream.requests.length, 1)
  })

  it('that names no entity is published with a warning, and never blocks', async () => {
    await using scene = await startScene()
    const { headers } = await publish(scene.app, 'Be polite.')
    assert.equal(headers.get('x-gatehouse-warning'), 'rule_not_evaluable')
    assert.equal((await sendText(scene.app, 'You fool.')).status, 200)
  })
})

describe('a policy that needs a judge', () => {
  it('is evaluated by a model of the catalogue, once for each text', async () => {
    await using scene = await startScene(withJudge())
    const { app, judge } = scene
    const { headers } = await publish(app, 'Be polite.')
    assert.equal(headers.get('x-gatehouse-warning'), null)
    assert.equal((await sendText(app, 'Good morning.')).status, 200)
    judge.answer(answerWith('{"score": 0.9}', { input: 200, output: 8 }))
    assert.equal((await sendText(app, 'You fool.')).status, 400)
    assert.equal((await sendText(app, 'You fool.')).status, 400)
    assert.equal((await sendText(app, 'Good morning.')).status, 200)
    assert.equal(judge.requests.length, 2)
    const judgeRequest = JSON.parse(judge.requests[0]?.body ?? '') as Record<string, unknown>
    assert.equal(judgeRequest['model'], 'judge-model')
    assert.equal(judgeRequest['temperature'], 0)
  })

  it('reports the cost of the judge, and charges no organization', async () => {
    await using scene = await startScene(withJudge())
    const { app } = scene
    await publish(app, 'Be polite.')
    const before = await operatorOf(app.app).balance()
    await sendText(app, 'Good morning.')
    const after = await operatorOf(app.app).balance()
    assert.equal(after.remaining_credits, before.remaining_credits)
    const metrics = await (await app.get('/metrics')).text()
    assert.match(metrics, /gatehouse_judge_verdicts_total\{result="judged"\} 1\n/)
    assert.match(metrics, /gatehouse_judge_tokens_total\{kind="input"\} 200\n/)
    assert.match(metrics, /gatehouse_judge_tokens_total\{kind="output"\} 8\n/)
    assert.match(metrics, /gatehouse_judge_usd_total 0\.208\n/)
  })

  for (const [title, script] of [
    ['answers with prose', answerWith('allow')],
    ['fails', answerJson({ error: { message: 'no' } }, 500)],
  ] as const) {
    it(`denies with fail: closed and allows with fail: open if the judge ${title}`, async () => {
      for (const [fail, status] of [
        ['closed', 400],
        ['open', 200],
      ] as const) {
        await using scene = await startScene(withJudge({ fail }))
        scene.judge.answer(script)
        await publish(scene.app, 'Be polite.')
        assert.equal((await sendText(scene.app, 'You fool.')).status, status)
      }
    })
  }

  it('never denies in monitoring mode, even if the judge fails', async () => {
    await using scene = await startScene(withJudge())
    scene.judge.answer(answerWith('allow'))
    await publish(scene.app, 'Be polite.', { mode: 'monitoring' })
    assert.equal((await sendText(scene.app, 'You fool.')).status, 200)
  })

  it('counts as not evaluated once the daily budget of the judge is spent', async () => {
    await using scene = await startScene(withJudge({ max_usd_per_day: 0.000001 }))
    await publish(scene.app, 'Be polite.')
    assert.equal((await sendText(scene.app, 'Good morning.')).status, 400)
    assert.equal(scene.judge.requests.length, 0)
  })

  it('lets the judge rewrite denied texts, and denies if the rewrite fails', async () => {
    await using scene = await startScene(withJudge())
    const { app, judge, upstream } = scene
    const authorization = `Bearer ${app.adminKey}`
    const config = { rules: { denylist: ['falcon'], response_pattern: 'rewrite' } }
    assert.equal((await app.post('/api/policy-gateway/config', config, { authorization })).status, 200)
    judge.answer(answerWith('Tell me about the bird.', { input: 50, output: 5 }))
    assert.equal((await sendText(app, 'Tell me about the falcon.')).status, 200)
    assert.match(upstream.requests.at(-1)?.body ?? '', /Tell me about the bird\./)
    assert.match(judge.requests.at(-1)?.body ?? '', /Rewrite the text/)
    // A rewrite that still violates the rule, or is empty, is rejected.
    for (const answer of ['A falcon it is.', '']) {
      judge.answer(answerWith(answer, { input: 50, output: 5 }))
      assert.ok((await sendText(app, `Tell me of the falcon, ${answer.length} times.`)).status >= 400)
    }
    assert.equal(upstream.requests.length, 1)
  })

  it('denies a request if the text is in a field that cannot be rewritten', async () => {
    await using scene = await startScene(withJudge())
    const { app, judge, upstream } = scene
    const authorization = `Bearer ${app.adminKey}`
    const config = { rules: { denylist: ['falcon'], response_pattern: 'rewrite' } }
    assert.equal((await app.post('/api/policy-gateway/config', config, { authorization })).status, 200)
    judge.answer(answerWith('About a bird.', { input: 50, output: 5 }))
    const tools = [{ name: 'find', description: 'Finds the falcon.', input_schema: { type: 'object' } }]
    const body = { model: 'default-model', max_tokens: 9, tools, messages: [{ role: 'user', content: 'Where is it?' }] }
    assert.equal((await app.post('/v1/messages', body)).status, 400)
    assert.equal(upstream.requests.length, 0)
  })

  it('stops the start if the model of the judge does not exist', async () => {
    await assert.rejects(startScene({ judge: { model: 'nobody' } }), /policies\.judge\.model: there is no model nobody/)
  })
})
