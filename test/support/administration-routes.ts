import { randomUUID } from 'node:crypto'
import { itemsOf, textOf, type Admin, type Json } from './administration.ts'

/** Ids of one resource of each kind. */
export type Belongings = {
  readonly policy_id: string
  readonly version_id: string
  readonly project_id: string
  readonly key_id: string
  readonly admin_key_id: string
  readonly backtest_id: string
  readonly case_id: string
  readonly gate_run_id: string
  readonly exception_id: string
  readonly judge_id: string
  readonly calibration_id: string
  readonly event_id: string
  readonly request_id: string
  readonly member_id: string
  readonly sign_in_id: string
  readonly verification_id: string
  readonly view_id: string
  readonly upstream_id: string
  readonly model_id: string
  readonly channel_id: string
  readonly rule_id: string
  readonly appeal_id: string
  readonly budget_id: string
}

export type AdminRoute = {
  readonly method: string
  /** Path after `/v1/organization`. */
  readonly path: string
  /** Without it, every administrator key is enough. */
  readonly permission?: string
  /** Each of them is enough as well. */
  readonly orPermissions?: readonly string[]
  /** Further permissions that it needs. */
  readonly alsoNeeds?: readonly string[]
  /** Required query of the path. */
  readonly query?: string
  /** A valid body; `bodyOf` replaces the names of ids by ids. */
  readonly body?: Json
  /** All fields of its body are optional. */
  readonly needsNothing?: true
  /** A query with a body, which changes nothing. */
  readonly isEnquiry?: true
  /** Error statuses that other routes of its kind do not have. */
  readonly alsoAnswers?: readonly number[]
}

const applying = {
  permission: 'policies:write',
  orPermissions: [
    'projects:write',
    'keys:write',
    'gateway:write',
    'exports:write',
    'models:write',
    'alerts:write',
    'budgets:write',
  ],
}

/** The name does not resolve, so that nothing is sent. */
const webhookConfig = { url: 'https://alerts.invalid/hook', secret: 'a-secret-of-the-webhook-0123' }

const tomorrow = Math.floor(Date.now() / 1000) + 86_400

/** Every administration route. A test fails if one is missing here. */
export const adminRoutes: readonly AdminRoute[] = [
  { method: 'GET', path: '', permission: 'projects:read' },
  { method: 'PATCH', path: '', permission: 'projects:write', body: { name: 'Changed' }, needsNothing: true },
  { method: 'PUT', path: '/apply_lease', ...applying, body: { holder: 'run_1', seconds: 1 } },
  { method: 'DELETE', path: '/apply_lease', ...applying, query: 'holder=run_1' },
  { method: 'GET', path: '/policies', permission: 'policies:read' },
  { method: 'POST', path: '/policies', permission: 'policies:write', body: { name: 'New', rule: 'Say "no"' } },
  {
    method: 'POST',
    path: '/policies/check',
    permission: 'policies:read',
    body: { rule: 'cel:text ==' },
    isEnquiry: true,
  },
  {
    method: 'POST',
    path: '/policies/preview',
    permission: 'policies:read',
    body: { name: 'New', rule: 'Say "no"' },
    isEnquiry: true,
  },
  { method: 'GET', path: '/policies/{policy_id}', permission: 'policies:read' },
  {
    method: 'PATCH',
    path: '/policies/{policy_id}',
    permission: 'policies:write',
    body: { revision: 2, name: 'Changed' },
  },
  { method: 'DELETE', path: '/policies/{policy_id}', permission: 'policies:write', query: 'revision=2' },
  { method: 'POST', path: '/policies/{policy_id}/publish', permission: 'policies:publish', body: { revision: 2 } },
  { method: 'POST', path: '/policies/{policy_id}/pause', permission: 'policies:publish', body: { revision: 2 } },
  { method: 'POST', path: '/policies/{policy_id}/resume', permission: 'policies:publish', body: { revision: 2 } },
  {
    method: 'POST',
    path: '/policies/{policy_id}/rollback',
    permission: 'policies:publish',
    body: { revision: 2, version: 1 },
  },
  {
    method: 'POST',
    path: '/policies/{policy_id}/discard_draft',
    permission: 'policies:write',
    body: { revision: 2 },
  },
  { method: 'GET', path: '/policies/{policy_id}/versions', permission: 'policies:read' },
  { method: 'GET', path: '/policies/{policy_id}/versions/{version}', permission: 'policies:read' },
  {
    method: 'POST',
    path: '/policies/{policy_id}/backtest',
    permission: 'policies:write',
    alsoNeeds: ['content:read'],
    body: { limit: 10 },
    needsNothing: true,
  },
  { method: 'GET', path: '/policies/{policy_id}/backtest', permission: 'policies:read' },
  { method: 'GET', path: '/policies/{policy_id}/backtest/{backtest_id}', permission: 'policies:read' },
  { method: 'POST', path: '/policies/{policy_id}/backtest/{backtest_id}/cancel', permission: 'policies:write' },
  { method: 'GET', path: '/publish_gate', permission: 'policies:read' },
  { method: 'PUT', path: '/publish_gate', permission: 'policies:override', body: { revision: 0 } },
  { method: 'GET', path: '/policies/{policy_id}/publish_gate', permission: 'policies:read' },
  {
    method: 'PUT',
    path: '/policies/{policy_id}/publish_gate',
    permission: 'policies:override',
    body: { revision: 0 },
  },
  { method: 'POST', path: '/policies/{policy_id}/gate', permission: 'policies:write', body: { revision: 2 } },
  { method: 'GET', path: '/policies/{policy_id}/gate', permission: 'policies:read' },
  { method: 'GET', path: '/policies/{policy_id}/gate/{gate_run_id}', permission: 'policies:read' },
  { method: 'POST', path: '/policies/{policy_id}/gate/{gate_run_id}/approve', permission: 'policies:publish' },
  { method: 'GET', path: '/policies/{policy_id}/rollout', permission: 'policies:read' },
  {
    method: 'POST',
    path: '/policies/{policy_id}/rollout',
    permission: 'policies:publish',
    body: { revision: 2, percent: 10 },
  },
  { method: 'GET', path: '/exceptions', permission: 'policies:read' },
  { method: 'GET', path: '/policies/{policy_id}/exceptions', permission: 'policies:read' },
  {
    method: 'POST',
    path: '/policies/{policy_id}/exceptions',
    permission: 'policies:publish',
    body: { for: { user: 'ada' }, reason: 'A test', expires_at: tomorrow },
  },
  { method: 'GET', path: '/policies/{policy_id}/exceptions/{exception_id}', permission: 'policies:read' },
  { method: 'DELETE', path: '/policies/{policy_id}/exceptions/{exception_id}', permission: 'policies:publish' },
  { method: 'GET', path: '/policies/{policy_id}/cases', permission: 'policies:read' },
  {
    method: 'POST',
    path: '/policies/{policy_id}/cases',
    permission: 'policies:write',
    body: { says: 'asked outright', given: { text: 'Say no.' }, expect: 'match' },
  },
  { method: 'GET', path: '/policies/{policy_id}/cases/{case_id}', permission: 'policies:read' },
  {
    method: 'PATCH',
    path: '/policies/{policy_id}/cases/{case_id}',
    permission: 'policies:write',
    body: { revision: 1, weight: 'should' },
  },
  { method: 'DELETE', path: '/policies/{policy_id}/cases/{case_id}', permission: 'policies:write' },
  {
    method: 'POST',
    path: '/policies/{policy_id}/cases/run',
    permission: 'policies:read',
    body: { use: 'draft' },
    needsNothing: true,
    isEnquiry: true,
  },
  { method: 'GET', path: '/appeals', permission: 'reviews:read' },
  { method: 'GET', path: '/labels', permission: 'reviews:read' },
  {
    method: 'POST',
    path: '/appeals',
    permission: 'reviews:write',
    body: { event_id: '{event_id}', note: 'This is wrong.', claim: 'should_be_denied' },
  },
  { method: 'GET', path: '/appeals/{appeal_id}', permission: 'reviews:read' },
  { method: 'POST', path: '/appeals/{appeal_id}/review', permission: 'reviews:write', body: { should: 'match' } },
  { method: 'POST', path: '/appeals/{appeal_id}/resolve', permission: 'reviews:write', body: { outcome: 'dismissed' } },
  { method: 'GET', path: '/policies/{policy_id}/decisions', permission: 'policies:read' },
  { method: 'GET', path: '/gateway/decisions', permission: 'gateway:read' },
  {
    method: 'POST',
    path: '/evaluate',
    permission: 'policies:read',
    alsoNeeds: ['gateway:read'],
    body: { scenario: { text: 'Hello' } },
    isEnquiry: true,
  },
  {
    method: 'POST',
    path: '/playground',
    permission: 'playground:use',
    body: {
      project_id: '{project_id}',
      dialect: 'messages',
      body: { model: 'gatehouse-echo', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] },
    },
    isEnquiry: true,
    alsoAnswers: [402, 404, 409, 502, 504, 529],
  },
  { method: 'GET', path: '/admin_api_keys', permission: 'keys:read' },
  { method: 'POST', path: '/admin_api_keys', permission: 'keys:write', body: { name: 'New' } },
  { method: 'GET', path: '/admin_api_keys/{admin_key_id}', permission: 'keys:read' },
  {
    method: 'PATCH',
    path: '/admin_api_keys/{admin_key_id}',
    permission: 'keys:write',
    body: { name: 'Changed' },
    needsNothing: true,
  },
  {
    method: 'POST',
    path: '/admin_api_keys/{admin_key_id}/rotate',
    permission: 'keys:write',
    body: { grace_seconds: 60 },
  },
  { method: 'DELETE', path: '/admin_api_keys/{admin_key_id}', permission: 'keys:write' },
  { method: 'GET', path: '/projects', permission: 'projects:read' },
  { method: 'POST', path: '/projects', permission: 'projects:write', body: { name: 'New' } },
  { method: 'GET', path: '/projects/{project_id}', permission: 'projects:read' },
  { method: 'PATCH', path: '/projects/{project_id}', permission: 'projects:write', body: { name: 'Changed' } },
  { method: 'POST', path: '/projects/{project_id}/archive', permission: 'projects:write' },
  { method: 'POST', path: '/projects/{project_id}/unarchive', permission: 'projects:write' },
  { method: 'GET', path: '/api_keys', permission: 'keys:read' },
  { method: 'GET', path: '/projects/{project_id}/api_keys', permission: 'keys:read' },
  { method: 'POST', path: '/projects/{project_id}/api_keys', permission: 'keys:write', body: { name: 'New' } },
  { method: 'GET', path: '/projects/{project_id}/api_keys/{key_id}', permission: 'keys:read' },
  {
    method: 'PATCH',
    path: '/projects/{project_id}/api_keys/{key_id}',
    permission: 'keys:write',
    body: { name: 'Changed' },
    needsNothing: true,
  },
  {
    method: 'POST',
    path: '/projects/{project_id}/api_keys/{key_id}/rotate',
    permission: 'keys:write',
    body: { grace_seconds: 60 },
  },
  { method: 'DELETE', path: '/projects/{project_id}/api_keys/{key_id}', permission: 'keys:write' },
  { method: 'GET', path: '/judges', permission: 'judges:read' },
  { method: 'POST', path: '/judges', permission: 'judges:write', body: { name: 'New', model: 'gatehouse-echo' } },
  { method: 'GET', path: '/judges/{judge_id}', permission: 'judges:read' },
  {
    method: 'PATCH',
    path: '/judges/{judge_id}',
    permission: 'judges:write',
    body: { revision: 1, timeout_ms: 900 },
  },
  { method: 'DELETE', path: '/judges/{judge_id}', permission: 'judges:write' },
  { method: 'GET', path: '/judges/{judge_id}/versions', permission: 'judges:read' },
  {
    method: 'POST',
    path: '/judges/{judge_id}/activate',
    permission: 'policies:publish',
    alsoNeeds: ['policies:override'],
    body: { override: { reason: 'Only for this test' } },
    needsNothing: true,
  },
  { method: 'POST', path: '/judges/{judge_id}/shadow', permission: 'judges:write', body: { share_bp: 500 } },
  { method: 'POST', path: '/judges/{judge_id}/retire', permission: 'policies:publish' },
  {
    method: 'POST',
    path: '/judges/{judge_id}/calibrations',
    permission: 'judges:write',
    body: { version: 1 },
    needsNothing: true,
  },
  { method: 'GET', path: '/judges/{judge_id}/calibrations', permission: 'judges:read' },
  { method: 'GET', path: '/judges/{judge_id}/calibrations/{calibration_id}', permission: 'judges:read' },
  { method: 'POST', path: '/judges/{judge_id}/calibrations/{calibration_id}/cancel', permission: 'judges:write' },
  { method: 'GET', path: '/judges/{judge_id}/comparison', permission: 'judges:read' },
  { method: 'GET', path: '/judges/{judge_id}/costs', permission: 'judges:read' },
  { method: 'GET', path: '/me' },
  { method: 'GET', path: '/models' },
  {
    method: 'POST',
    path: '/models',
    permission: 'models:write',
    body: { name: 'new-model', targets: [{ upstream: 'furniture' }] },
  },
  { method: 'GET', path: '/models/{model_id}' },
  {
    method: 'PATCH',
    path: '/models/{model_id}',
    permission: 'models:write',
    body: { paused: true },
    needsNothing: true,
  },
  { method: 'DELETE', path: '/models/{model_id}', permission: 'models:write' },
  { method: 'GET', path: '/roles' },
  { method: 'GET', path: '/members', permission: 'members:read' },
  {
    method: 'POST',
    path: '/members',
    permission: 'members:write',
    alsoNeeds: [
      'audit:read',
      'content:read',
      'projects:read',
      'policies:read',
      'judges:read',
      'reviews:read',
      'reviews:write',
    ],
    body: { email: 'new@example.com', role: 'reviewer' },
  },
  { method: 'GET', path: '/members/{member_id}', permission: 'members:read' },
  {
    method: 'PATCH',
    path: '/members/{member_id}',
    permission: 'members:write',
    body: { name: 'Changed' },
    needsNothing: true,
  },
  { method: 'DELETE', path: '/members/{member_id}', permission: 'members:write' },
  { method: 'GET', path: '/sign_ins', permission: 'members:read' },
  { method: 'DELETE', path: '/sign_ins/{sign_in_id}', permission: 'members:write' },
  { method: 'GET', path: '/upstreams', permission: 'system:read', orPermissions: ['models:write'] },
  { method: 'POST', path: '/upstreams', permission: 'models:write', body: { name: 'new-upstream', kind: 'echo' } },
  { method: 'POST', path: '/upstreams/test', permission: 'models:write', body: { kind: 'echo', model: 'm' } },
  { method: 'GET', path: '/upstreams/{upstream_id}', permission: 'system:read', orPermissions: ['models:write'] },
  {
    method: 'PATCH',
    path: '/upstreams/{upstream_id}',
    permission: 'models:write',
    body: { paused: true },
    needsNothing: true,
  },
  {
    method: 'GET',
    path: '/upstreams/{upstream_id}/models',
    permission: 'system:read',
    orPermissions: ['models:write'],
  },
  { method: 'DELETE', path: '/upstreams/{upstream_id}', permission: 'models:write' },
  { method: 'GET', path: '/system', permission: 'system:read' },
  { method: 'POST', path: '/upstreams/{upstream}/probe', permission: 'system:probe' },
  { method: 'GET', path: '/overview', permission: 'audit:read' },
  { method: 'GET', path: '/overview/period', permission: 'audit:read' },
  { method: 'GET', path: '/traffic', permission: 'audit:read' },
  { method: 'GET', path: '/requests', permission: 'audit:read' },
  { method: 'GET', path: '/requests/export', permission: 'audit:read' },
  { method: 'GET', path: '/requests/{request_id}', permission: 'audit:read' },
  { method: 'GET', path: '/requests/{request_id}/explanation', permission: 'audit:read' },
  {
    method: 'POST',
    path: '/requests/{request_id}/explanation',
    permission: 'audit:read',
    body: { text: 'Hello' },
    needsNothing: true,
    isEnquiry: true,
  },
  { method: 'GET', path: '/views', permission: 'audit:read' },
  {
    method: 'POST',
    path: '/views',
    permission: 'audit:read',
    body: { name: 'New', page: 'requests', query: 'status=denied' },
  },
  { method: 'GET', path: '/views/{view_id}', permission: 'audit:read' },
  {
    method: 'PATCH',
    path: '/views/{view_id}',
    permission: 'audit:read',
    alsoNeeds: ['policies:write', '*'],
    body: { name: 'Changed' },
    needsNothing: true,
  },
  { method: 'DELETE', path: '/views/{view_id}', permission: 'audit:read', alsoNeeds: ['*'] },
  { method: 'GET', path: '/alert_channels', permission: 'alerts:read' },
  {
    method: 'POST',
    path: '/alert_channels',
    permission: 'alerts:write',
    body: { kind: 'webhook', name: 'New', config: webhookConfig },
  },
  { method: 'GET', path: '/alert_channels/{channel_id}', permission: 'alerts:read' },
  {
    method: 'PATCH',
    path: '/alert_channels/{channel_id}',
    permission: 'alerts:write',
    body: { name: 'Changed' },
    needsNothing: true,
  },
  { method: 'POST', path: '/alert_channels/{channel_id}/test', permission: 'alerts:write', isEnquiry: true },
  { method: 'DELETE', path: '/alert_channels/{channel_id}', permission: 'alerts:write' },
  { method: 'GET', path: '/alert_rules', permission: 'alerts:read' },
  {
    method: 'POST',
    path: '/alert_rules',
    permission: 'alerts:write',
    alsoNeeds: ['usage:read'],
    body: { kind: 'spend', name: 'New', threshold: 5 },
  },
  { method: 'GET', path: '/alert_rules/{rule_id}', permission: 'alerts:read' },
  {
    method: 'PATCH',
    path: '/alert_rules/{rule_id}',
    permission: 'alerts:write',
    alsoNeeds: ['usage:read'],
    body: { name: 'Changed' },
    needsNothing: true,
  },
  { method: 'DELETE', path: '/alert_rules/{rule_id}', permission: 'alerts:write' },
  { method: 'GET', path: '/alerts', permission: 'alerts:read' },
  { method: 'GET', path: '/audit_logs', permission: 'audit:read' },
  { method: 'GET', path: '/audit_logs/export', permission: 'audit:read' },
  { method: 'GET', path: '/audit_logs/proof', permission: 'audit:read' },
  { method: 'GET', path: '/audit_logs/archive', permission: 'audit:read' },
  { method: 'GET', path: '/audit_logs/keys', permission: 'audit:read' },
  { method: 'GET', path: '/audit_logs/verify', permission: 'audit:read' },
  { method: 'POST', path: '/audit_logs/verify', permission: 'audit:read', body: { from: 1 }, needsNothing: true },
  { method: 'GET', path: '/audit_logs/verify/{verification_id}', permission: 'audit:read' },
  { method: 'GET', path: '/audit_logs/{event_id}', permission: 'audit:read' },
  { method: 'GET', path: '/limits', permission: 'usage:read' },
  {
    method: 'POST',
    path: '/limits/check',
    permission: 'usage:read',
    body: { project_id: '{project_id}', model: 'gatehouse-echo', input_tokens: 10 },
    isEnquiry: true,
  },
  { method: 'GET', path: '/usage', permission: 'usage:read' },
  { method: 'GET', path: '/costs', permission: 'usage:read' },
  { method: 'GET', path: '/limits/overrides', permission: 'usage:read' },
  { method: 'PUT', path: '/limits/overrides', permission: 'credits:write', body: { limits: { rpm: 1_000_000 } } },
  { method: 'DELETE', path: '/limits/overrides', permission: 'credits:write' },
  { method: 'GET', path: '/credits', permission: 'usage:read' },
  { method: 'POST', path: '/credits/grants', permission: 'credits:write', body: { credits: 1 } },
  { method: 'POST', path: '/credits/corrections', permission: 'credits:write', body: { credits: 1 } },
  { method: 'POST', path: '/credits/payments', permission: 'credits:write', body: { usd: 1, ref: 'r' } },
  { method: 'GET', path: '/credits/ledger', permission: 'usage:read' },
  { method: 'GET', path: '/credits/ledger/export', permission: 'usage:read' },
  { method: 'GET', path: '/budgets', permission: 'budgets:read' },
  {
    method: 'POST',
    path: '/budgets',
    permission: 'budgets:write',
    body: { name: 'New', requests: 1_000_000, period: 'month', action: 'warn' },
  },
  {
    method: 'POST',
    path: '/budgets/plan',
    permission: 'budgets:read',
    body: { name: 'New', requests: 5, period: 'day' },
    isEnquiry: true,
  },
  { method: 'GET', path: '/budgets/{budget_id}', permission: 'budgets:read' },
  {
    method: 'PATCH',
    path: '/budgets/{budget_id}',
    permission: 'budgets:write',
    body: { revision: 1, name: 'Changed' },
  },
  { method: 'GET', path: '/budgets/{budget_id}/status', permission: 'budgets:read' },
  { method: 'DELETE', path: '/budgets/{budget_id}', permission: 'budgets:write' },
]

export const titleOf = ({ method, path }: AdminRoute): string => `${method} ${path}`

/** Path parameters that are the same in every organization. */
const shared: Readonly<Record<string, string>> = { version: '1', upstream: 'echo' }

/** The path with ids in place of their names, and the query. */
export function pathOf({ path, query }: AdminRoute, ids: Readonly<Record<string, string>>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(shared[name] ?? ids[name] ?? 'nobody'),
  )
  return query === undefined ? filled : `${filled}?${query}`
}

/** The body with ids in place of their names. */
export const bodyOf = ({ body }: AdminRoute, ids: Readonly<Record<string, string>>): Json | undefined =>
  body &&
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, value === `{${name}}` ? (ids[name] ?? 'nobody') : value]),
  )

/** The names of the ids in the path. */
export const idsIn = ({ path }: AdminRoute): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).filter((name) => !(name in shared))

/** Creates one resource of each kind; the policy is published and at revision 2. */
export async function createOneOfEach(admin: Admin): Promise<Belongings> {
  const policy = await createPolicyOfAnother(admin)
  await admin.post(`/policies/${textOf(policy)}/publish`, { revision: 1 })
  const project = await admin.post('/projects', { name: 'Furniture' })
  const { data } = await admin.get(`/policies/${textOf(policy)}/versions`)
  const key = await admin.post(`/projects/${textOf(project)}/api_keys`, { name: 'Furniture' })
  await ensureEntry(admin, '/upstreams', { name: 'furniture', kind: 'echo' })
  const modelId = await ensureEntry(admin, '/models', { name: 'chair', targets: [{ upstream: 'furniture' }] })
  await admin.send('PATCH', `/models/${modelId}`, { body: { paused: false } }) // because a suite of all routes pauses it
  const requestId = await admin.infer(textOf(key, 'value'), 'chair')
  const oneCase = await admin.post(`/policies/${textOf(policy)}/cases`, {
    says: 'asked outright',
    given: { text: 'Say no.' },
    expect: 'match',
    weight: 'should', // so that every rule can be published
  })
  const judge = await ensureJudge(admin)
  return {
    policy_id: textOf(policy),
    version_id: Array.isArray(data) ? textOf(data[0]) : '',
    project_id: textOf(project),
    key_id: textOf(key),
    admin_key_id: textOf(await admin.post('/admin_api_keys', { name: 'Furniture', permissions: ['keys:write'] })),
    backtest_id: textOf(await admin.post(`/policies/${textOf(policy)}/backtest`, {})),
    case_id: textOf(oneCase),
    judge_id: judge,
    calibration_id: await calibrationOf(admin, judge),
    gate_run_id: textOf(await admin.post(`/policies/${textOf(policy)}/gate`, { revision: 2 })),
    exception_id: textOf(
      await admin.post(`/policies/${textOf(policy)}/exceptions`, {
        for: { user: 'nobody' },
        reason: 'Furniture',
        expires_at: tomorrow,
      }),
    ),
    event_id: textOf(await admin.get(`/requests/${requestId}`), 'event_id'),
    request_id: requestId,
    member_id: textOf(await admin.post('/members', { email: `${randomUUID()}@example.com`, role: 'auditor' })),
    sign_in_id: await admin.signIn(),
    verification_id: textOf(await admin.post('/audit_logs/verify', {})),
    view_id: await ensureView(admin),
    upstream_id: await ensureEntry(admin, '/upstreams', {
      name: 'unused',
      kind: 'echo',
      api_key: 'sk-of-the-furniture',
    }),
    model_id: modelId,
    channel_id: textOf(
      await admin.post('/alert_channels', { kind: 'webhook', name: 'On call', config: webhookConfig }),
    ),
    appeal_id: await openAppealOfAnother(admin, textOf(key, 'value')),
    budget_id: textOf(
      await admin.post('/budgets', { name: `Furniture ${randomUUID()}`, requests: 1_000_000, period: 'month' }),
    ),
    rule_id: textOf(await admin.post('/alert_rules', { kind: 'spend', name: 'Spending', threshold: 5 })),
  }
}

/** Another key opens it, so that the administrator can review it. */
async function openAppealOfAnother(admin: Admin, apiKey: string): Promise<string> {
  const other = await admin.post('/admin_api_keys', { name: 'Appellant', permissions: ['reviews:write'] })
  const { event_id: eventId } = await admin.get(`/requests/${await admin.infer(apiKey, 'chair')}`)
  const headers = { authorization: `Bearer ${textOf(other, 'value')}` }
  const body = { event_id: eventId, note: 'This is wrong.', claim: 'should_be_denied' }
  return textOf((await admin.send('POST', '/appeals', { body, headers })).body)
}

/** Another key is the author of the draft, so that the administrator can approve it. */
async function createPolicyOfAnother(admin: Admin): Promise<Json> {
  const author = await admin.post('/admin_api_keys', { name: 'Author', permissions: ['policies:write'] })
  const headers = { authorization: `Bearer ${textOf(author, 'value')}` }
  const body = { name: `Furniture ${randomUUID()}`, rule: 'Say "no"' }
  return (await admin.send('POST', '/policies', { body, headers })).body
}

/** One that was not changed and is not in use, because suites change and use them. */
async function ensureJudge(admin: Admin): Promise<string> {
  const known = itemsOf(await admin.get('/judges?limit=100')).find(
    (judge) => judge['revision'] === 1 && judge['active_version'] === null && judge['shadow'] === null,
  )
  const body = { name: `Furniture ${randomUUID()}`, model: 'chair' }
  return textOf(known ?? (await admin.post('/judges', body)))
}

/** It is cancelled, because only some may run at once. */
async function calibrationOf(admin: Admin, judge: string): Promise<string> {
  const id = textOf(await admin.post(`/judges/${judge}/calibrations`, {}))
  await admin.post(`/judges/${judge}/calibrations/${id}/cancel`)
  return id
}

/** The number of views of a key is limited, and suites call this once for each route. */
async function ensureView(admin: Admin): Promise<string> {
  const [view] = itemsOf(await admin.get('/views'))
  const body = { name: 'Furniture', page: 'requests', query: 'status=denied', shared: true }
  return textOf(view ?? (await admin.post('/views', body)))
}

/** Creates an upstream or model, unless the organization has it: their number is limited. Returns its id. */
async function ensureEntry(admin: Admin, path: string, body: Json): Promise<string> {
  const created = await admin.send('POST', path, { body })
  return textOf(created.status === 409 ? await admin.get(`${path}/${textOf(body, 'name')}`) : created.body)
}
