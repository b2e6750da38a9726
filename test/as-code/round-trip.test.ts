import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { Compile } from 'typebox/compile'
import { parse } from 'yaml'
import fc from 'fast-check'
import { apiPath, type ApiClient } from '../../src/app/client/api-client.ts'
import type { CreatedKeyBody } from '../../src/http/admin/operator-keys.ts'
import type { ExportBody } from '../../src/http/policy-gateway/exports/schema.ts'
import type { OrganizationBody } from '../../src/http/resources/organization.ts'
import type { PolicyBody } from '../../src/http/admin/policies/schema.ts'
import type { ProjectBody } from '../../src/http/admin/projects/schema.ts'
import { resourceFileSchema } from '../../src/app/client/resource-files.ts'
import { exportResources, filesOf } from '../../src/cli/as-code/export.ts'
import { readResources } from '../../src/cli/as-code/files.ts'
import { choicesOf, planResources } from '../../src/cli/as-code/plan.ts'
import { readState } from '../../src/cli/as-code/state.ts'
import { isIdle, planText } from '../../src/cli/as-code/step.ts'
import { openAsCode } from '../support/as-code.ts'

/** Few names, so that some resources share one. Names that YAML would read as something else are among them. */
const name = fc.constantFrom('a', 'A', 'yes', '12', 'null', ' x: "y" #z', 'proj_1', 'über\u0085')
const limits = fc.option(fc.record({ rpm: fc.nat(9), tpd: fc.nat(9) }, { requiredKeys: [] }), { nil: undefined })
const index = fc.nat(9)

const sinks = [
  { type: 'webhook', config: { url: 'http://127.0.0.1:9/hook', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' } },
  // Fields that are not secret are taken literally.
  { type: 'webhook', config: { url: 'http://127.0.0.1:9/${HOME}/${file:x}', secret: 'x'.repeat(24) } },
  { type: 'otlp_logs', config: { url: 'http://127.0.0.1:9/v1/logs', filter: { event_types: ['policy'] } } },
  {
    type: 's3',
    config: {
      bucket: 'audit-log',
      region: 'eu-central-1',
      auth: { type: 'assume_role', role_arn: 'arn:aws:iam::123456789012:role/gatehouse-audit' },
    },
  },
]

const state = fc.record({
  organizationLimits: limits,
  projects: fc.array(fc.record({ name, limits, isArchived: fc.boolean() }), { minLength: 1, maxLength: 4 }),
  apiKeys: fc.array(
    fc.record({
      name,
      project: index,
      permissions: fc.subarray(['gateway:read', 'exports:read']),
      models: fc.option(fc.subarray(['m1', 'm2', 'm1'])),
      expires_at: fc.option(fc.integer({ min: 4_000_000_000, max: 4_000_009_999 })),
      allowed_ips: fc.option(fc.subarray(['10.1.2.3/8', '::ffff:192.0.2.1', '2001:db8::1/32'], { minLength: 1 })),
      limits,
      isRevoked: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
  adminKeys: fc.array(fc.record({ name, permissions: fc.subarray(['*', 'audit:read'], { minLength: 1 }) }), {
    maxLength: 3,
  }),
  sinks: fc.array(fc.record({ label: fc.constantFrom('', 'a', 'yes'), sink: fc.constantFrom(...sinks) }), {
    maxLength: 3,
  }),
  gateway: fc.option(fc.record({ denylist: fc.subarray(['falcon', '/a: #b/', 'null']), redact: fc.boolean() })),
  policies: fc.uniqueArray(
    fc.record({
      name,
      description: fc.constantFrom('', 'no', '- x'),
      rule: fc.constantFrom('Never mention "Falcon".', 'cel:text.contains("a: b")', 'first line\nsecond "line" \n\n'),
      projects: fc.array(index, { maxLength: 2 }),
      mode: fc.constantFrom('monitoring', 'enforcing'),
      match_threshold_basis_points: fc.option(fc.integer({ min: 1, max: 9_999 })),
      end: fc.constantFrom('draft', 'published', 'paused', 'changed'),
    }),
    { maxLength: 3, selector: (policy) => policy.name.toLowerCase().trim() },
  ),
})

type Wanted = typeof state extends fc.Arbitrary<infer T> ? T : never

async function create(client: ApiClient, wanted: Wanted): Promise<void> {
  const setLimits = (subject: object, values: object | undefined) =>
    client.request('PUT', '/v1/organization/limits/overrides', { body: { ...subject, limits: values ?? {} } })
  await setLimits({}, wanted.organizationLimits)
  const projects: ProjectBody[] = []
  for (const project of wanted.projects) {
    const created = await client.post<ProjectBody>('/v1/organization/projects', { name: project.name })
    projects.push(created)
    await setLimits({ project_id: created.id }, project.limits)
  }
  const projectId = (at: number): string => projects[at % projects.length]?.id ?? ''
  for (const { project, limits: own, isRevoked, ...key } of wanted.apiKeys) {
    const keys = apiPath`/v1/organization/projects/${projectId(project)}/api_keys`
    const { id } = await client.post<CreatedKeyBody>(keys, key)
    await setLimits({ api_key_id: id }, own)
    if (isRevoked) await client.request('DELETE', `${keys}/${id}`)
  }
  for (const key of wanted.adminKeys) await client.post('/v1/organization/admin_api_keys', key)
  for (const { label, sink } of wanted.sinks)
    await client.post<{ export: ExportBody }>('/api/policy-gateway/exports', { label, enabled: false, ...sink })
  if (wanted.gateway)
    await client.request('PUT', '/api/policy-gateway/config', { body: { rules: { ...wanted.gateway } } })
  for (const { end, projects: scope, ...policy } of wanted.policies) {
    const body = { ...policy, ...(scope.length > 0 && { scope: 'projects', project_ids: scope.map(projectId) }) }
    const created = await client.post<PolicyBody>('/v1/organization/policies', body)
    await publish(client, created, end)
  }
  for (const [at, project] of wanted.projects.entries())
    if (project.isArchived) await client.post(apiPath`/v1/organization/projects/${projectId(at)}/archive`)
}

async function publish(client: ApiClient, { id, revision }: PolicyBody, end: string): Promise<void> {
  const path = apiPath`/v1/organization/policies/${id}`
  if (end === 'draft') return
  const published = await client.post<PolicyBody>(`${path}/publish`, { revision })
  const body = { revision: published.revision }
  if (end === 'paused') await client.post(`${path}/pause`, body)
  if (end === 'changed') await client.request('PATCH', path, { body: { ...body, rule: 'Never mention "Eagle".' } })
}

it('whatever an organization has, plan finds no change in what export has written, which its schema describes', async () => {
  await using scene = await openAsCode()
  const isDescribed = Compile(JSON.parse(JSON.stringify(resourceFileSchema())))
  const operator = scene.app.app.client
  await fc.assert(
    fc.asyncProperty(state, async (wanted) => {
      const { id } = await operator.post<OrganizationBody>('/operator/organizations', { name: 'Other' })
      const client = operator.inOrganization(id)
      await create(client, wanted)
      const nowMs = Date.now()
      const { file } = await exportResources(client, await readState(client, nowMs))
      const folder = mkdtempSync(join(scene.path, 'export-'))
      for (const [fileName, text] of filesOf(file)) {
        assert.ok(isDescribed.Check(parse(text)), text)
        writeFileSync(join(folder, fileName), text)
      }
      writeFileSync(join(folder, 'empty.yaml'), '# Nothing yet.\n')
      const resources = readResources(folder)
      const steps = await planResources({ client, resources, env: {}, nowMs, ...choicesOf({}) })
      assert.ok(steps.every(isIdle), planText(steps))
    }),
    { numRuns: 12 },
  )
})
