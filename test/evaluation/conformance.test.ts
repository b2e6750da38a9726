import assert from 'node:assert/strict'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { httpKinds } from '../clients/scripted.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'
import { ask, dialects, type Heard } from './dialects.ts'
import { speak } from './speaking-upstream.ts'

const strict = { additionalProperties: false }
const Json = Type.Record(Type.String(), Type.Unknown())
const Block = Type.Union([
  Type.Object({ type: Type.Enum(['text', 'thinking']), text: Type.String() }, strict),
  Type.Object({ type: Type.Literal('tool'), name: Type.String(), input: Json }, strict),
])

/** A case file is a list of these. A wrong verdict that a user reports belongs here first. */
const Cases = Type.Array(
  Type.Object(
    {
      says: Type.String({ minLength: 1 }),
      gateway: Type.Optional(Json),
      policies: Type.Optional(Type.Array(Json)),
      asks: Type.Object(
        {
          text: Type.String(),
          flagged_categories: Type.Optional(Type.Array(Type.String())),
          /** `$unattached` stands for the id of the case's first policy. */
          headers: Type.Optional(Type.Record(Type.String(), Type.String())),
        },
        strict,
      ),
      answers: Type.Array(Block),
      wants: Type.Object(
        {
          ending: Type.Enum(['ended', 'filtered', 'refused']),
          policy: Type.Optional(Json),
          /** Words that the caller must receive. */
          shows: Type.Optional(Type.String()),
          /** Words that the caller must not receive, not even in part. */
          hides: Type.Optional(Type.String()),
          /** Words that must not reach the upstream. */
          keeps: Type.Optional(Type.String()),
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
  let answers: Case['answers'] = []

  before(async () => {
    for (const kind of httpKinds) {
      upstreams.push(
        opened.use(await startUpstream((response, request) => speak(kind, answers, { request, response }))),
      )
    }
    app = opened.use(
      await startTestApp({
        config: {
          upstreams: httpKinds.map((kind, at) => {
            const { url = '' } = upstreams[at] ?? {}
            return { name: kind, kind, base_url: kind === 'anthropic' ? url : `${url}/v1` }
          }),
          models: httpKinds.map((kind) => ({ name: kind, targets: [{ upstream: kind, model: 'm' }] })),
        },
      }),
    )
  })
  after(() => opened.disposeAsync())

  for (const one of cases) {
    it(one.says, async () => {
      answers = one.answers
      await using prepared = await prepare(app, one)
      const ways = dialects.flatMap((dialect) =>
        [false, true].flatMap((stream) => httpKinds.map((kind) => ({ dialect, stream, kind }))),
      )
      const heard = await Promise.all(
        ways.map(({ dialect, stream, kind }) =>
          ask(app, dialect, {
            model: kind,
            text: one.asks.text,
            stream,
            ...(one.asks.flagged_categories && { flaggedCategories: one.asks.flagged_categories }),
            headers: prepared.headers,
          }),
        ),
      )
      for (const [at, said] of heard.entries()) check(one, said, JSON.stringify(ways[at]))
      const { keeps } = one.wants
      if (keeps !== undefined)
        assert.ok(upstreams.every(({ requests }) => !requests.some(({ body }) => body.includes(keeps))))
      rows.push(
        `| ${one.says} | ${one.wants.ending} | ${String(one.wants.policy?.['decision'] ?? 'allow')} | ${heard.length} |`,
      )
    })
  }

  it('is published in docs/conformance.md', () => {
    const text = describeMatrix(rows)
    const isTold = readFileSync(page, 'utf8') === text
    if (!isTold) writeFileSync(page, text)
    assert.ok(isTold, 'docs/conformance.md was not up to date; it is now')
  })
})

function check({ wants }: Case, said: Heard, way: string): void {
  assert.equal(said.ending, wants.ending, `${way} ${JSON.stringify(said)}`)
  assert.equal(said.status, wants.ending === 'refused' ? 400 : 200, way)
  if (wants.policy === undefined) assert.equal(said.policy, undefined, way)
  for (const [name, value] of Object.entries(wants.policy ?? {})) assert.deepEqual(said.policy?.[name], value, way)
  if (wants.shows !== undefined) assert.ok(said.words.includes(wants.shows), `${way} ${said.words}`)
  if (wants.hides !== undefined) assert.ok(!said.words.includes(wants.hides), `${way} ${said.words}`)
}

/** Applies the rules of a case, and removes them when it is over. */
async function prepare(app: TestApp, { gateway = {}, policies = [], asks }: Case) {
  const admin = { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' }
  const send = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(app.url + path, {
      method,
      headers: admin,
      ...(body && { body: JSON.stringify(body) }),
    })
    const said = (await answer.json()) as Record<string, unknown>
    assert.ok(answer.ok, JSON.stringify(said))
    return said
  }
  await send('PUT', '/api/policy-gateway/config', gateway)
  const ids: string[] = []
  for (const policy of policies) {
    const { id } = await send('POST', '/v1/organization/policies', { name: 'Case', ...policy })
    ids.push(String(id))
    await send('POST', `/v1/organization/policies/${String(id)}/publish`, { revision: 1 })
  }
  const headers = Object.fromEntries(
    Object.entries(asks.headers ?? {}).map(([name, value]) => [name, value.replace('$unattached', ids[0] ?? '')]),
  )
  return {
    headers,
    async [Symbol.asyncDispose]() {
      for (const id of ids) await send('DELETE', `/v1/organization/policies/${id}?revision=2`)
    },
  }
}

const describeMatrix = (rows: readonly string[]): string => `# Conformance

Written by \`test/evaluation/conformance.test.ts\`; do not edit. Each case is asked on the three dialects, streamed and whole, of
the three kinds of upstream: eighteen ways, which must all give the same verdict. \`refused\` is a 400 before the upstream is
asked; \`filtered\` is a 200 that ends as its family says it: \`stop_reason: refusal\`, \`finish_reason: content_filter\`, or
\`incomplete_details.reason: content_filter\`.

Cases are data: \`test/evaluation/cases\`.

| Case | Ending | Decision | Ways that agree |
| --- | --- | --- | --- |
${rows.join('\n')}
`
