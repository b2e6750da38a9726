import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { itemsOf, type Json } from '../support/administration.ts'
import { openAsCode } from '../support/as-code.ts'

const gateway = `
gateway:
  rules: { denylist: [project x], redact: true }
`
const cases = `
  cases:
    - { says: asked outright, text: What is Project X?, decision: refuse, tags: [names] }
    - { says: an address, text: Write to ann@example.com., decision: redact, weight: should }
`
type Scene = Awaited<ReturnType<typeof openAsCode>>

const path = '/api/policy-gateway/config'
const ask = async ({ app }: Scene, to: string, body?: Json): Promise<Json> => {
  const headers = { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' }
  const method = body === undefined ? 'GET' : 'POST'
  const answer = await fetch(`${app.url}${to}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  assert.ok(answer.ok, String(answer.status))
  return (await answer.json()) as Json
}
const casesIn = async (scene: Scene): Promise<Json[]> => itemsOf(await ask(scene, `${path}/cases?order=asc`))

it('apply creates, changes and deletes cases of the gateway configuration, and plan shows them', async () => {
  await using scene = await openAsCode()
  scene.write(gateway + cases)
  const planned = await scene.plan()
  assert.match(planned.output, /\+ case "asked outright": refuse, must: What is Project X\?/)
  assert.equal((await scene.apply()).status, 0)
  assert.equal((await scene.plan()).status, 0)
  assert.deepEqual(
    (await casesIn(scene)).map(({ says, expect, weight, tags }) => [says, expect, weight, tags]),
    [
      ['asked outright', 'refuse', 'must', ['names']],
      ['an address', 'redact', 'should', []],
    ],
  )
  const { version } = await ask(scene, path)

  scene.write(`${gateway}
  cases:
    - { says: asked outright, text: 'Project X?', decision: refuse }
`)
  const changed = await scene.plan()
  assert.match(changed.output, /update gateway configuration/)
  assert.match(changed.output, /- case "an address"/)
  assert.equal((await scene.apply()).status, 0)
  assert.deepEqual(
    (await casesIn(scene)).map(({ says, given }) => [says, given]),
    [['asked outright', { text: 'Project X?' }]],
  )
  assert.equal((await ask(scene, path))['version'], version, 'cases alone save no configuration')
})

it('a gateway block without cases leaves them, and cases of requests stay in any case', async () => {
  await using scene = await openAsCode()
  scene.write(gateway + cases)
  await scene.apply()
  const given = { text: 'Project X' }
  await ask(scene, `${path}/cases`, { says: 'asked outright', given, expect: 'allow', origin: 'replay' })
  scene.write(gateway)
  assert.equal((await scene.plan()).status, 0)
  scene.write(`${gateway}  cases: []\n`)
  await scene.apply()
  assert.deepEqual(
    (await casesIn(scene)).map(({ origin }) => origin),
    ['replay'],
  )
})

it('apply changes nothing if a case of weight must fails', async () => {
  await using scene = await openAsCode()
  scene.write(`${gateway}
  cases:
    - { says: harmless, text: Hello, decision: refuse }
`)
  const { status, errors } = await scene.apply()
  assert.equal(status, 4)
  assert.match(errors, /Gateway configuration\n {2}✖ harmless: expected refuse, got allow/)
  assert.equal((await ask(scene, path))['version'], 0)
})

it('export writes cases of the gateway configuration that apply accepts', async () => {
  await using scene = await openAsCode()
  await ask(scene, `${path}/cases`, { says: 'harmless', given: { text: 'Hello' }, expect: 'allow' })
  const unsaved = await scene.run('export')
  assert.match(unsaved.output, /gateway:\n {2}cases:\n {4}- says: harmless/)
  scene.write(gateway + cases)
  await scene.apply()
  const { output } = await scene.run('export')
  assert.match(output, /says: asked outright\n {6}text: What is Project X\?\n {6}decision: refuse/)
  scene.write(output)
  assert.equal((await scene.plan()).status, 0)
})

it('policies test runs them without a server, and names mistakes with their line', async () => {
  await using scene = await openAsCode()
  const test = (...more: string[]) => scene.run('policies', 'test', '-f', scene.files, ...more)
  scene.write(gateway + cases)
  const junit = join(scene.path, 'junit.xml')
  const passed = await test('--junit', junit)
  assert.deepEqual(
    [passed.status, passed.output.split('\n').at(-1)],
    [0, '2 cases: 2 passed, 0 failed, 0 not evaluated.'],
  )
  assert.match(
    readFileSync(junit, 'utf8'),
    /<testsuite name="Gateway configuration" tests="2" failures="0" skipped="0">/,
  )
  const { policies, gateway: tested } = JSON.parse((await test('--json')).output)
  assert.deepEqual(policies, [])
  assert.partialDeepStrictEqual(tested.cases[0], {
    says: 'asked outright',
    state: 'passed',
    expected: 'refuse',
    got: 'refuse',
  })

  scene.write(`
gateway:
  rules: { denylist: ['/(/'] }
  cases:
    - { says: one, text: x, decision: allow }
    - { says: one, decision: refuse }
`)
  const wrong = await test()
  assert.equal(wrong.status, 1)
  assert.match(wrong.errors, /:3: rules\.denylist\[0\]/)
  assert.match(wrong.errors, /:6: another case of the gateway configuration says "one" as well/)
  assert.match(wrong.errors, /:6: the case needs a text or messages/)
  scene.write('gateway:\n  cases:\n    - { says: one, text: x, decision: match }\n')
  assert.match((await test()).errors, /:3: gateway\.cases\[0\]\.decision/)
})
