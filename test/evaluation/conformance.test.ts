import assert from 'node:assert/strict'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { callerFormats } from '../../src/domain/inference/formats.ts'
import { networkKinds } from '../clients/scripted-upstream.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'
import { sendPrompt, type PromptResult } from './dialects.ts'
import { writeResponse } from './upstream-response.ts'

const strict = { additionalProperties: false }
const Json = Type.Record(Type.String(), Type.Unknown())
const Block = Type.Union([
  Type.Object({ type: Type.Enum(['text', 'thinking']), text: Type.String() }, strict),
  Type.Object({ type: Type.Literal('tool'), name: Type.String(), input: Json }, strict),
])

/** A case file is a list of these. Add a case first when a user reports a wrong verdict. */
const Cases = Type.Array(
  Type.Object(
    {
      title: Type.String({ minLength: 1 }),
      gateway: Type.Optional(Json),
      policies: Type.Optional(Type.Array(Json)),
      request: Type.Object(
        {
          text: Type.String(),
          flagged_categories: Type.Optional(Type.Array(Type.String())),
          /** `$unattached` stands for the id of the case's first policy. */
          headers: Type.Optional(Type.Record(Type.String(), Type.String())),
        },
        strict,
      ),
      response: Type.Array(Block),
      expected: Type.Object(
        {
          ending: Type.Enum(['ended', 'filtered', 'denied']),
          policy: Type.Optional(Json),
          /** Text that the caller must receive. */
          contains: Type.Optional(Type.String()),
          /** Text that the caller must not receive. */
          omits: Type.Optional(Type.String()),
          /** Text that must not reach the upstream. */
          not_forwarded: Type.Optional(Type.String()),
        },
        strict,
      ),
    },
    strict,
  ),
)
type Case = Static<typeof Cases>[number]

const folder = join(import.meta.dirname, 'cases')
const cases = globSync('*.json', { cwd: folder })
  .sort()
  .flatMap((file) => {
    const list: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    return Value.Parse(Cases, list)
  })

const page = join(import.meta.dirname, '../../docs/conformance.md')

describe('the verdict of a case in every dialect', () => {
  const opened = new AsyncDisposableStack()
  const upstreams: TestUpstream[] = []
  const rows: string[] = []
  let app: TestApp
  let upstreamResponse: Case['response'] = []

  before(async () => {
    for (const kind of networkKinds) {
      upstreams.push(
        opened.use(
          await startUpstream((response, request) => writeResponse(kind, upstreamResponse, { request, response })),
        ),
      )
    }
    app = opened.use(
      await startTestApp({
        config: {
          audit: { content: 'full' },
          administration: {
            credential: { requests_per_minute: 10_000 },
            organization: { requests_per_minute: 10_000 },
          },
          upstreams: networkKinds.map((kind, at) => {
            const { url = '' } = upstreams[at] ?? {}
            return { name: kind, kind, base_url: kind.startsWith('openai') ? `${url}/v1` : url }
          }),
          models: networkKinds.map((kind) => ({ name: kind, targets: [{ upstream: kind, model: 'm' }] })),
        },
      }),
    )
  })
  after(() => opened.disposeAsync())

  for (const one of cases) {
    it(one.title, async () => {
      upstreamResponse = one.response
      await using prepared = await prepare(app, one)
      const ways = callerFormats.flatMap((dialect) =>
        [false, true].flatMap((stream) => networkKinds.map((kind) => ({ dialect, stream, kind }))),
      )
      const received = await Promise.all(
        ways.map(({ dialect, stream, kind }) =>
          sendPrompt(app, dialect, {
            model: kind,
            text: one.request.text,
            stream,
            ...(one.request.flagged_categories && { flaggedCategories: one.request.flagged_categories }),
            headers: prepared.headers,
          }),
        ),
      )
      for (const [at, response] of received.entries()) check(one, response, JSON.stringify(ways[at]))
      for (const stream of [false, true]) {
        const { policy } = received[ways.findIndex((way) => way.stream === stream)] ?? {}
        if (policy !== undefined) await checkExplanation(app, policy)
      }
      const { not_forwarded: notForwarded } = one.expected
      if (notForwarded !== undefined)
        assert.ok(upstreams.every(({ requests }) => !requests.some(({ body }) => body.includes(notForwarded))))
      const decisions = new Set(received.map(({ policy }) => String(policy?.['decision'] ?? 'none')))
      const endings = new Set(received.map(({ ending }) => ending))
      rows.push(`| ${one.title} | ${[...endings].join(', ')} | ${[...decisions].join(', ')} | ${received.length} |`)
    })
  }

  it('is published in docs/conformance.md', () => {
    const text = describeMatrix(rows)
    const isCurrent = readFileSync(page, 'utf8') === text
    if (!isCurrent) writeFileSync(page, text)
    assert.ok(isCurrent, 'docs/conformance.md was not up to date; it is now')
  })
})

/** The explanation names the rule that the `policy` object names. */
async function checkExplanation(app: TestApp, policy: Readonly<Record<string, unknown>>): Promise<void> {
  const read = async (path: string) => {
    const response = await app.get(`/v1/organization${path}`, { authorization: `Bearer ${app.adminKey}` })
    assert.equal(response.status, 200, path)
    return (await response.json()) as Record<string, unknown>
  }
  const { request_id: requestId } = await read(`/audit_logs/${String(policy['event_id'])}`)
  const explanation = await read(`/requests/${String(requestId)}/explanation`)
  const deciding = explanation['deciding'] as { policy: { id: string; version: number | null }; reason_code: string }
  assert.deepEqual(
    [explanation['decision'], explanation['effective_decision'], explanation['enforced'], deciding.reason_code],
    [policy['decision'], policy['effective_decision'], policy['enforced'], policy['reason_code']],
  )
  assert.deepEqual([deciding.policy.id, deciding.policy.version ?? 0], [policy['policy_id'], policy['version']])
  assert.deepEqual(explanation['differs'], [])
}

function check({ expected }: Case, response: PromptResult, way: string): void {
  assert.equal(response.ending, expected.ending, `${way} ${JSON.stringify(response)}`)
  assert.equal(response.status, expected.ending === 'denied' ? 400 : 200, way)
  if (expected.policy === undefined) assert.equal(response.policy, undefined, way)
  for (const [name, value] of Object.entries(expected.policy ?? {}))
    assert.deepEqual(response.policy?.[name], value, way)
  if (expected.contains !== undefined) assert.ok(response.text.includes(expected.contains), `${way} ${response.text}`)
  if (expected.omits !== undefined) assert.ok(!response.text.includes(expected.omits), `${way} ${response.text}`)
}

/** Applies the rules of a case, and removes them when it is over. */
async function prepare(app: TestApp, { gateway = {}, policies = [], request }: Case) {
  const admin = { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' }
  const send = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(app.url + path, {
      method,
      headers: admin,
      ...(body && { body: JSON.stringify(body) }),
    })
    const content = (await answer.json()) as Record<string, unknown>
    assert.ok(answer.ok, JSON.stringify(content))
    return content
  }
  await send('PUT', '/api/policy-gateway/config', gateway)
  const ids: string[] = []
  for (const [at, policy] of policies.entries()) {
    const { id } = await send('POST', '/v1/organization/policies', { name: `Case ${at}`, ...policy })
    ids.push(String(id))
    await send('POST', `/v1/organization/policies/${String(id)}/publish`, { revision: 1 })
  }
  const headers = Object.fromEntries(
    Object.entries(request.headers ?? {}).map(([name, value]) => [name, value.replace('$unattached', ids[0] ?? '')]),
  )
  return {
    headers,
    async [Symbol.asyncDispose]() {
      for (const id of ids) await send('DELETE', `/v1/organization/policies/${id}?revision=2`)
    },
  }
}

const describeMatrix = (rows: readonly string[]): string => `# Conformance

Written by \`test/evaluation/conformance.test.ts\`; do not edit. Each case is sent in the three dialects, streamed and whole, to
every kind of upstream, which must all give the same verdict. \`denied\` is a 400 before the upstream is
called; \`filtered\` is a 200 that ends in the format of its dialect: \`stop_reason: refusal\`, \`finish_reason: content_filter\`, or
\`incomplete_details.reason: content_filter\`. \`ended\` is a complete 200. The decision is
the one that the response names; \`none\` if nothing matched.

Cases are data: \`test/evaluation/cases\`.

| Case | Ending | Decision | Ways that agree |
| --- | --- | --- | --- |
${rows.join('\n')}
`
