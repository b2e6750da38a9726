import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openAsCode } from '../support/as-code.ts'

describe('a mistake in a file', () => {
  let scene: Awaited<ReturnType<typeof openAsCode>>
  before(async () => {
    scene = await openAsCode()
  })
  after(() => scene[Symbol.asyncDispose]())

  for (const { title, text, says } of [
    {
      title: 'an unknown kind',
      text: 'projects: []\nroutes: []',
      says: /all\.yaml:2: routes: is not a known field\.$/m,
    },
    {
      title: 'a field that is missing',
      text: 'policies:\n  - name: a\n    rule: b\n  - name: c',
      says: /all\.yaml:4: policies\[1\]\.rule: is required\.$/m,
    },
    { title: 'YAML that is broken', text: 'projects:\n  - [', says: /all\.yaml:\d: / },
    {
      title: 'an unknown project',
      text: 'api_keys:\n  - name: web\n    project: Nowhere',
      says: /all\.yaml:3: project: there is no project Nowhere, neither in the files nor in the organization\.$/m,
    },
    {
      title: 'an unknown project of a policy',
      text: 'policies:\n  - name: a\n    rule: b\n    projects:\n      - Nowhere',
      says: /all\.yaml:5: projects\[0\]: there is no project Nowhere/,
    },
    {
      title: 'an invalid rule',
      text: 'policies:\n  - name: a\n    rule: "cel:1 +"',
      says: /all\.yaml:3: rule: line 1/,
    },
    {
      title: 'an invalid term',
      text: "gateway:\n  rules:\n    denylist: [a, '/(/']",
      says: /all\.yaml:3: rules\.denylist\[1\]: The term/,
    },
    {
      title: 'a day that no month has',
      text: 'admin_api_keys:\n  - name: a\n    role: auditor\n    expires_at: 2999-02-30',
      says: /all\.yaml:4: expires_at: 2999-02-30 is neither a date/,
    },
    {
      title: 'an administrator key without permissions',
      text: 'admin_api_keys: [{ name: a }]',
      says: /all\.yaml:1: write either permissions or role\.$/m,
    },
    {
      title: 'an invalid network',
      text: 'api_keys: [{ name: a, project: Default project, allowed_ips: [10.0.0.0/99] }]',
      says: /all\.yaml:1: allowed_ips\[0\]: must be an address or a network/,
    },
    {
      title: 'a secret that is not a reference',
      text: 'export_sinks:\n  - label: a\n    type: splunk_hec\n    config: { url: "https://a.example.com", token: 3f2b7c1e-9a55-4b8e-8a0e-3c1f0a6e2f11 }',
      says: /all\.yaml:4: config\.token: is a secret: write \$\{NAME\}/,
    },
    {
      title: 'an unknown field of a sink',
      text: 'export_sinks:\n  - label: a\n    type: splunk_hec\n    config:\n      url: https://a.example.com\n      token: ${T}\n      colour: red',
      says: /all\.yaml:7: config\.colour: /,
    },
    {
      title: 'an unknown type of sink',
      text: 'export_sinks:\n  - label: a\n    type: splunk\n    config: {}',
      says: /all\.yaml:3: type: must be one of splunk_hec, /,
    },
    {
      title: 'a resource that is described twice',
      text: 'projects:\n  - name: a\n  - name: a',
      says: /all\.yaml:3: the same resource is described in .*all\.yaml:2\.$/m,
    },
    {
      title: 'an id that does not exist',
      text: 'projects:\n  - id: proj_1\n    name: a',
      says: /all\.yaml:2: id: there is no project proj_1\.$/m,
    },
    {
      title: 'a part that is written twice',
      text: 'gateway: {}\n---\ngateway: {}',
      says: /all\.yaml:3: gateway: is in .*all\.yaml:1 already; write it once\.$/m,
    },
  ]) {
    it(`is reported with its file, line and field, and nothing is changed: ${title}`, async () => {
      scene.write(text)
      const plan = await scene.plan()
      assert.equal(plan.status, 1, plan.output)
      assert.match(plan.errors, says)
      const applied = await scene.apply()
      assert.deepEqual([applied.status, applied.errors], [1, plan.errors])
    })
  }

  it('is reported together with all others', async () => {
    scene.write('projects: [{ nam: a }]\napi_keys: [{ name: b }]')
    const lines = (await scene.plan()).errors.split('\n')
    assert.equal(lines.length, 3, lines.join('\n'))
  })

  it('in the arguments of plan exits with 1, because 2 means that something would change', async () => {
    for (const args of [['plan'], ['plan', '-f', '/nowhere'], ['plan', '-f', scene.files, '--typo']])
      assert.equal((await scene.run(...args)).status, 1, args.join(' '))
  })
})
