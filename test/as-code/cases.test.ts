import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { it } from 'node:test'
import { itemsOf, textOf } from '../support/administration.ts'
import { openAsCode } from '../support/as-code.ts'
import { startScene, withJudge } from '../support/judge-scene.ts'
import { answerWith } from '../support/paid-app.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const policy = `
policies:
  - name: No code names
    rule: Never mention "Project Falcon".
    mode: enforcing
`
const cases = `
    cases:
      - { says: asked outright, text: What is Project Falcon?, match: true, tags: [names] }
      - { says: the bird, text: A falcon is a bird of prey., match: false, weight: should }
`
type Scene = Awaited<ReturnType<typeof openAsCode>>

const casesIn = async ({ app }: Scene) => {
  const [first] = itemsOf(await app.admin.get('/policies'))
  const path = `/policies/${textOf(first ?? {})}/cases`
  return { path, all: itemsOf(await app.admin.get(`${path}?order=asc`)) }
}

it('apply creates, changes and deletes cases, and plan shows them', async () => {
  await using scene = await openAsCode()
  scene.write(policy + cases)
  const planned = await scene.plan()
  assert.match(planned.output, /create and publish policy No code names/)
  assert.match(planned.output, /\+ case "asked outright": match, must: What is Project Falcon\?/)
  assert.equal((await scene.apply()).status, 0)
  assert.equal((await scene.plan()).status, 0)
  assert.deepEqual(
    (await casesIn(scene)).all.map(({ says, expect, weight, tags }) => [says, expect, weight, tags]),
    [
      ['asked outright', 'match', 'must', ['names']],
      ['the bird', 'no_match', 'should', []],
    ],
  )

  scene.write(`${policy}
    cases:
      - { says: asked outright, text: 'Project Falcon?', at_least_bp: 5000 }
`)
  const changed = await scene.plan()
  assert.match(changed.output, /update policy No code names/)
  assert.match(changed.output, /- case "asked outright": match.*\n.*\+ case "asked outright": \{"at_least_bp":5000\}/)
  assert.match(changed.output, /- case "the bird"/)
  assert.equal((await scene.apply()).status, 0)
  assert.deepEqual(
    (await casesIn(scene)).all.map(({ says, given }) => [says, given]),
    [['asked outright', { text: 'Project Falcon?' }]],
  )
})

it('a file without cases leaves them, and cases of requests stay in any case', async () => {
  await using scene = await openAsCode()
  scene.write(policy + cases)
  await scene.apply()
  const { path } = await casesIn(scene)
  await scene.app.admin.post(path, {
    says: 'asked outright',
    given: { text: 'Falcon' },
    expect: 'no_match',
    origin: 'replay',
  })
  scene.write(policy)
  assert.equal((await scene.plan()).status, 0)
  scene.write(`${policy}    cases: []\n`)
  await scene.apply()
  assert.deepEqual(
    (await casesIn(scene)).all.map(({ origin }) => origin),
    ['replay'],
  )
})

it('apply changes nothing if a case of weight must fails', async () => {
  await using scene = await openAsCode()
  scene.write(`${policy}
    cases:
      - { says: the bird, text: A falcon., match: true }
`)
  const { status, errors } = await scene.apply()
  assert.equal(status, 4)
  assert.match(errors, /✖ the bird: expected a match, got no match with a score of 0/)
  assert.match(errors, /Nothing was changed/)
  assert.deepEqual(itemsOf(await scene.app.admin.get('/policies')), [])
})

it('export writes cases that apply accepts', async () => {
  await using scene = await openAsCode()
  scene.write(policy + cases)
  await scene.apply()
  const { output } = await scene.run('export')
  scene.write(output)
  assert.match(output, /says: asked outright/)
  assert.equal((await scene.plan()).status, 0)
})

it('policies test needs no server for expressions and phrases, and exits with 4 only if a must fails', async () => {
  await using scene = await openAsCode()
  scene.write(policy + cases)
  const junit = join(scene.path, 'junit.xml')
  const passed = await scene.run('policies', 'test', '-f', scene.files, '--junit', junit)
  assert.deepEqual(
    [passed.status, passed.output.split('\n').at(-1)],
    [0, '2 cases: 2 passed, 0 failed, 0 not evaluated.'],
  )
  assert.match(readFileSync(junit, 'utf8'), /<testsuite name="No code names" tests="2" failures="0" skipped="0">/)

  scene.write(`${policy}
    cases:
      - { says: 'the <bird>', text: A falcon., match: true }
      - { says: soft, text: A falcon., match: true, weight: should }
`)
  const failed = await scene.run('policies', 'test', '-f', scene.files, '--json', '--junit', junit)
  assert.equal(failed.status, 4)
  const [tested] = JSON.parse(failed.output).policies
  assert.deepEqual(
    tested.cases.map(({ says, state, got }: Record<string, unknown>) => [says, state, got]),
    [
      ['the <bird>', 'failed', 'no_match'],
      ['soft', 'failed', 'no_match'],
    ],
  )
  assert.match(readFileSync(junit, 'utf8'), /name="the &lt;bird&gt;".*<failure message="expected a match/)
  assert.match(readFileSync(junit, 'utf8'), /name="soft".*<skipped/)
})

it('policies test names every mistake with its line, and exits with 1; wrong use exits with 2', async () => {
  await using scene = await openAsCode()
  scene.write(`policies:
  - name: Broken
    rule: 'cel:text =='
    cases:
      - { says: one, match: true }
      - { says: one, text: x, match: true, at_least_bp: 1 }
      - { says: two, messages: [{ role: nobody, content: x }], match: true }
`)
  const { status, errors } = await scene.run('policies', 'test', '-f', scene.files)
  assert.equal(status, 1)
  for (const words of [
    /all\.yaml:3: rule: /,
    /all\.yaml:5: the case needs a text or messages/,
    /all\.yaml:6: write either match or a range/,
    /all\.yaml:6: another case of the policy says "one" as well/,
    /all\.yaml:7: .*role/,
  ])
    assert.match(errors, words)
  assert.equal((await scene.run('policies', 'test')).status, 2)
  assert.equal((await scene.run('policies', 'test', '-f', scene.files, '--judge', 'guess')).status, 2)
})

it('policies test says which rules need a judge, asks that of the server, and keeps its verdicts beside the file', async () => {
  await using server = await startScene(withJudge())
  server.judge.answer(answerWith('{"score": 0.9}', { input: 200, output: 8 }))
  await using scene = await openAsCode()
  scene.env['GATEHOUSE_URL'] = server.app.url
  scene.env['GATEHOUSE_ADMIN_KEY'] = server.app.adminKey
  scene.write(`policies:
  - name: Kindness
    rule: Be kind.
    cases: [{ says: rude, text: You fool., match: true }]
`)
  const test = async (judge: string) =>
    (await scene.run('policies', 'test', '-f', scene.files, '--judge', judge)).output
  assert.match(await test('skip'), /– rude: not evaluated \(judge_not_asked\)/)
  assert.match(await test('recorded'), /– rude: not evaluated \(not_recorded\)/)
  assert.equal(server.judge.requests.length, 0)
  assert.match(await test('ask'), /✔ rude/)
  assert.deepEqual(
    Object.values(JSON.parse(readFileSync(join(scene.files, 'all.yaml.verdicts.json'), 'utf8'))),
    [9_000],
  )
  assert.match(await test('recorded'), /✔ rude/)
  assert.equal(server.judge.requests.length, 1)
})

it('policies test --watch runs again after a file was changed or replaced, and not after its own verdicts', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'policies.yaml')
  writeFileSync(file, policy + cases)
  const child = spawn(process.execPath, ['bin/gatehouse.mjs', 'policies', 'test', '-f', file, '--watch'])
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  // A change can be reported twice, so an earlier summary may come once more.
  const untilSummary = async (expected: string): Promise<void> => {
    for (;;) {
      const { value = '', done } = await lines.next()
      assert.notEqual(done, true)
      if (value === expected) return
    }
  }
  const errors = createInterface({ input: child.stderr })[Symbol.asyncIterator]()
  try {
    await untilSummary('2 cases: 2 passed, 0 failed, 0 not evaluated.')
    await errors.next() // it waits for a change
    writeFileSync(`${file}.verdicts.json`, '{}')
    writeFileSync(`${file}.new`, policy + cases.replace('A falcon is', 'Project Falcon is'))
    renameSync(`${file}.new`, file)
    await untilSummary('2 cases: 1 passed, 1 failed, 0 not evaluated.')
    await errors.next()
    writeFileSync(file, policy + cases)
    await untilSummary('2 cases: 2 passed, 0 failed, 0 not evaluated.')
  } finally {
    child.kill()
  }
})
