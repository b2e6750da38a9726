import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { TestAppOptions } from '../../support/app.ts'
import {
  adminOf,
  errorOf,
  itemsOf,
  startAdminApp,
  textOf,
  type Admin,
  type AdminApp,
  type Json,
} from '../../support/administration.ts'
import { createLog } from '../../../src/base/log.ts'
import { openOidcBrowser, type OidcBrowser } from '../../support/oidc-browser.ts'
import { startOidcProvider, type OidcFault, type OidcPerson, type OidcProvider } from '../../support/oidc-provider.ts'
import { operatorOf } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const me = '/v1/organization/me'

type Scene = { readonly app: AdminApp; readonly provider: OidcProvider } & AsyncDisposable

async function openScene(settings: object = {}, options: TestAppOptions = {}): Promise<Scene> {
  const provider = await startOidcProvider()
  const { issuer, clientId, clientSecret } = provider
  const roles = { admins: 'owner', readers: 'auditor', writers: 'author' }
  const oidc = { issuer, client_id: clientId, client_secret: clientSecret, roles, ...settings }
  const app = await startAdminApp({ ...options, config: { console: { oidc } } })
  return {
    app,
    provider,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await provider[Symbol.asyncDispose]()
    },
  }
}

async function signedIn({ app, provider }: Scene, person: OidcPerson): Promise<OidcBrowser> {
  provider.person = person
  const browser = openOidcBrowser(app)
  assert.equal(await browser.signIn(), '../../')
  return browser
}

async function meOf(browser: OidcBrowser) {
  const response = await browser.get(me)
  assert.equal(response.status, 200)
  return (await response.json()) as { actor: { type: string; id: string; name: string }; permissions: string[] }
}

const errorCodeOf = async (response: Response): Promise<[number, string]> => {
  const { error } = (await response.json()) as { error: { code: string } }
  return [response.status, error.code]
}

describe('signing in through an identity provider', () => {
  let scene: Scene
  before(async () => void (scene = await openScene()))
  after(() => scene[Symbol.asyncDispose]())

  it('gives a person the highest role of their groups, as a member', async () => {
    const person = { sub: 's1', name: 'Grace', groups: ['readers', 'writers', 'unknown'] }
    const { actor, permissions } = await meOf(await signedIn(scene, person))
    assert.deepEqual([actor.type, actor.name], ['member', 'Grace'])
    assert.ok(permissions.includes('policies:write') && !permissions.includes('policies:publish'))
    const member = await scene.app.admin.get(`/members/${actor.id}`)
    assert.deepEqual([member['role'], member['role_source'], member['status']], ['author', 'groups', 'active'])
  })

  it('maps the groups again at each sign-in, to the same member', async () => {
    const first = await meOf(await signedIn(scene, { sub: 's2', groups: ['readers'] }))
    const second = await meOf(await signedIn(scene, { sub: 's2', groups: ['admins'] }))
    assert.equal(second.actor.id, first.actor.id)
    assert.deepEqual(second.permissions, ['*'])
  })

  it('refuses a person without a group that has a role, and ends their sessions of before', async () => {
    const browser = await signedIn(scene, { sub: 's3', groups: ['readers'] })
    scene.provider.person = { sub: 's3', groups: ['others'] }
    assert.equal(await openOidcBrowser(scene.app).signIn(), '../../#refused=not_a_member')
    assert.deepEqual(await errorCodeOf(await browser.get(me)), [401, 'signed_out'])
    scene.provider.person = { sub: 'nobody' }
    assert.equal(await openOidcBrowser(scene.app).signIn(), '../../#refused=not_a_member')
  })

  it('admits an invited person by a verified address, and knows the subject from then on', async () => {
    const { admin } = scene.app
    const id = textOf(await admin.post('/members', { email: 'ada@example.com', role: 'billing' }))
    const unverified = { sub: 's4', email: 'Ada@Example.com', email_verified: false }
    scene.provider.person = unverified
    assert.equal(await openOidcBrowser(scene.app).signIn(), '../../#refused=not_a_member')
    const { actor, permissions } = await meOf(await signedIn(scene, { ...unverified, email_verified: true }))
    assert.deepEqual([actor.id, permissions.includes('credits:write')], [id, true])
    const renamed = { sub: 's4', email: 'ada@new.example', email_verified: true }
    assert.equal((await meOf(await signedIn(scene, renamed))).actor.id, id)
    // Somebody else who gets the address later is another person.
    scene.provider.person = { sub: 's5', email: 'ada@new.example', email_verified: true }
    assert.equal(await openOidcBrowser(scene.app).signIn(), '../../#refused=not_a_member')
    const other = await meOf(await signedIn(scene, { ...scene.provider.person, sub: 's5', groups: ['readers'] }))
    assert.notEqual(other.actor.id, id)
  })

  it('takes an address as verified only if the answer that names it says so', async () => {
    const { admin } = scene.app
    const id = textOf(await admin.post('/members', { email: 'owner@example.com', role: 'owner' }))
    scene.provider.person = { sub: 'v1', email: 'owner@example.com' }
    scene.provider.userInfo = { email: 'mallory@example.com', email_verified: true }
    assert.equal(await openOidcBrowser(scene.app).signIn(), '../../#refused=not_a_member')
    scene.provider.userInfo = { email: 'owner@example.com', email_verified: true }
    const { actor } = await meOf(await signedIn(scene, scene.provider.person))
    scene.provider.userInfo = {}
    assert.equal(actor.id, id)
  })

  it('compares subjects exactly', async () => {
    await scene.app.admin.post('/members', { subject: 'exact', role: 'owner' })
    scene.provider.person = { sub: ' exact' }
    assert.equal(await openOidcBrowser(scene.app).signIn(), '../../#refused=not_a_member')
  })

  it('admits an invited person by subject, with the role of the invitation', async () => {
    const { admin } = scene.app
    const id = textOf(await admin.post('/members', { subject: 's6', role: 'reviewer' }))
    const { actor, permissions } = await meOf(await signedIn(scene, { sub: 's6', groups: ['admins'] }))
    assert.deepEqual([actor.id, permissions.includes('*')], [id, false])
    // Otherwise a second invitation would outlive the member.
    const again = await admin.send('POST', '/members', { body: { subject: 's6', role: 'owner' } })
    assert.deepEqual([again.status, errorOf(again)['code']], [409, 'member_exists'])
  })

  it('reads groups from the user info endpoint if the ID token has none', async () => {
    scene.provider.userInfo = { groups: ['admins'] }
    const { permissions } = await meOf(await signedIn(scene, { sub: 's7' }))
    scene.provider.userInfo = {}
    assert.deepEqual(permissions, ['*'])
  })

  it('opens the page that the person wanted, and never another address', async () => {
    scene.provider.person = { sub: 's8', groups: ['readers'] }
    const landed = (page: string) => openOidcBrowser(scene.app).signIn({ page })
    assert.equal(await landed('requests/req_1?range=1h'), '../../requests/req_1?range=1h')
    for (const page of ['//evil.example', 'https://evil.example', '../../evil', '\\evil.example', 'a/../../b'])
      assert.equal(await landed(page), '../../', page)
  })

  it('keeps the pending sign-in in a cookie that scripts cannot read, and clears it at the end', async () => {
    const browser = openOidcBrowser(scene.app)
    const { cookie, url } = await browser.start()
    assert.match(cookie, /^gatehouse_oidc=[\w-]+; HttpOnly; SameSite=Lax; Path=\/; Max-Age=600$/)
    assert.ok(!decodeURIComponent(cookie).includes(new URL(url).searchParams.get('state') ?? ''))
    const [cleared, session] = await browser.finishWithCookies(await browser.authorize(url))
    assert.match(cleared ?? '', /^gatehouse_oidc=; .*Max-Age=0$/)
    assert.match(session ?? '', /^gatehouse_console=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/)
  })

  it('sends PKCE, a state and a nonce that differ each time', async () => {
    const { authorizations } = scene.provider
    await openOidcBrowser(scene.app).signIn()
    await openOidcBrowser(scene.app).signIn()
    const [first, second] = authorizations.slice(-2)
    for (const name of ['code_challenge', 'state', 'nonce']) assert.notEqual(first?.get(name), second?.get(name), name)
    assert.equal(first?.get('code_challenge_method'), 'S256')
    assert.equal(first?.get('redirect_uri'), `${scene.app.url}/console/api/oidc/callback`)
  })
})

describe('an identity provider that misbehaves', () => {
  const faults: readonly OidcFault[] = [
    'wrong nonce',
    'no nonce',
    'wrong audience',
    'expired',
    'issued tomorrow',
    'other issuer',
    'other key',
    'unsigned',
    'wrong state',
    'code used before',
    'access denied',
    'other subject in user info',
  ]
  let scene: Scene
  before(async () => void (scene = await openScene()))
  after(() => scene[Symbol.asyncDispose]())

  for (const fault of faults)
    it(`signs nobody in: ${fault}`, async () => {
      scene.provider.person = { sub: 'mallory', groups: ['admins'], email: 'm@example.com' }
      if (fault === 'other subject in user info') scene.provider.person = { sub: 'mallory' }
      scene.provider.userInfo = { groups: ['admins'] }
      scene.provider.fault = fault
      const browser = openOidcBrowser(scene.app)
      assert.equal(await browser.signIn(), '../../#refused=failed')
      assert.equal((await browser.get(me)).status, 401)
      scene.provider.fault = undefined
      assert.deepEqual(itemsOf(await scene.app.admin.get('/members')), [])
    })

  it('is not given a second chance with the same answer', async () => {
    scene.provider.person = { sub: 'once', groups: ['readers'] }
    const browser = openOidcBrowser(scene.app)
    const { url, cookie } = await browser.start()
    const callback = await browser.authorize(url)
    assert.equal(await browser.finish(callback), '../../')
    assert.equal(await openOidcBrowser(scene.app).finish(callback), '../../#refused=failed')
    assert.equal(await openOidcBrowser(scene.app, cookie).finish(callback), '../../#refused=failed')
  })

  it('cannot finish a sign-in twice by redeeming its code again, also not at the same time', async () => {
    scene.provider.person = { sub: 'twice', groups: ['readers'] }
    scene.provider.isCodeReusable = true
    const browser = openOidcBrowser(scene.app)
    const { url, cookie } = await browser.start()
    const callback = await browser.authorize(url)
    const copies = Array.from({ length: 5 }, () => openOidcBrowser(scene.app, cookie).finish(callback))
    const landed = (await Promise.all(copies)).sort((a, b) => a.localeCompare(b))
    assert.deepEqual(landed, ['../../', ...Array.from({ length: 4 }, () => '../../#refused=failed')])
    assert.equal(await openOidcBrowser(scene.app, cookie).finish(callback), '../../#refused=failed')
    scene.provider.isCodeReusable = false
  })

  it('cannot have the code of one browser redeemed by another', async () => {
    const [victim, thief] = [openOidcBrowser(scene.app), openOidcBrowser(scene.app)]
    const stolen = new URL(await victim.authorize((await victim.start()).url)).searchParams.get('code') ?? ''
    const own = new URL(await thief.authorize((await thief.start()).url))
    own.searchParams.set('code', stolen) // the state of the thief is right, the code verifier is not
    assert.equal(await thief.finish(own.href), '../../#refused=failed')
  })

  it('leaves the reason in the log, and neither the code nor the secret of the client', async () => {
    const lines: string[] = []
    const log = createLog({
      level: 'trace',
      secrets: () => [],
      destination: { write: (line) => void lines.push(line) },
    })
    await using logged = await openScene({}, { log })
    logged.provider.person = { sub: 'stranger' }
    await openOidcBrowser(logged.app).signIn()
    logged.provider.fault = 'wrong audience'
    const browser = openOidcBrowser(logged.app)
    const callback = await browser.authorize((await browser.start()).url)
    await browser.finish(callback)
    const text = lines.join('\n')
    assert.match(text, /"reason":"not_a_member","error":"stranger of http:/)
    assert.match(text, /"reason":"failed","error":"unexpected JWT claim value encountered: .*aud/)
    assert.ok(!text.includes(new URL(callback).searchParams.get('code') ?? ''))
    assert.ok(!text.includes(logged.provider.clientSecret))
  })

  it('does not stop the start of the server or the API, and gets a clear answer', async () => {
    await using app = await startAdminApp({
      config: { console: { oidc: { issuer: 'http://127.0.0.1:1', client_id: 'x' } } },
    })
    assert.equal((await app.admin.send('GET', '/me')).status, 200)
    const response = await fetch(`${app.url}/console/api/oidc/start`, { redirect: 'manual' })
    assert.deepEqual([response.status, response.headers.get('location')], [302, '../../#refused=unavailable'])
  })

  it('is slowed down with the address that sends wrong answers', async () => {
    await using limited = await openScene()
    const { cookie } = await openOidcBrowser(limited.app).start()
    const seen = new Set<string>()
    for (let at = 0; at < 105; at++)
      seen.add(await openOidcBrowser(limited.app, cookie).finish('/console/api/oidc/callback?code=x&state=x'))
    assert.deepEqual([...seen], ['../../#refused=failed', '../../#refused=too_many'])
  })

  it('is not slowed down by callbacks that no sign-in began, which any page can open in a browser', async () => {
    await using open = await openScene()
    for (let at = 0; at < 105; at++) {
      const location = await openOidcBrowser(open.app).finish('/console/api/oidc/callback?code=x&state=x')
      assert.equal(location, '../../#refused=failed')
    }
    await signedIn(open, { sub: 'p1', groups: ['readers'] })
  })
})

describe('a member who is signed in', () => {
  let scene: Scene
  before(async () => void (scene = await openScene()))
  after(() => scene[Symbol.asyncDispose]())

  it('is the actor of what they change', async () => {
    const browser = await signedIn(scene, { sub: 'a1', groups: ['admins'] })
    const { actor } = await meOf(browser)
    assert.equal(
      (await browser.send('POST', '/v1/organization/projects', { body: { name: 'By a member' } })).status,
      201,
    )
    const events = itemsOf(await scene.app.admin.get('/audit_logs')).slice(0, 3)
    assert.deepEqual(
      events.map(({ kind, actor: by }) => [kind, by]),
      [
        ['project.created', { type: 'member', id: actor.id }],
        ['console_session.created', { type: 'member', id: actor.id }],
        ['member.created', { type: 'system', id: null }],
      ],
    )
    const forged = await browser.send('POST', '/v1/organization/projects', { body: { name: 'x' }, site: 'cross-site' })
    assert.deepEqual(await errorCodeOf(forged), [403, 'forged_request'])
  })

  it('knows whom to ask for a permission: the owners who signed in', async () => {
    await using own = await openScene()
    await own.app.admin.post('/members', { subject: 'invited', role: 'owner' })
    await signedIn(own, { sub: 'o1', name: 'Mara Lindqvist', groups: ['admins'] })
    const reader = await signedIn(own, { sub: 'o2', groups: ['readers'] })
    const { owners } = (await (await reader.get(me)).json()) as { owners: string[] }
    assert.deepEqual(owners, ['Mara Lindqvist'])
  })

  it('is bound by the role at every administration endpoint, and a new role takes effect at once', async () => {
    const { admin } = scene.app
    const id = textOf(await admin.post('/members', { subject: 'a2', role: 'auditor' }))
    const browser = await signedIn(scene, { sub: 'a2' })
    const create = () => browser.send('POST', '/v1/organization/projects', { body: { name: 'New' } })
    assert.deepEqual(await errorCodeOf(await create()), [403, 'permission_denied'])
    assert.equal((await browser.get('/v1/organization/members')).status, 200)
    assert.equal((await browser.send('PUT', '/api/policy-gateway/config', { body: {} })).status, 403)
    assert.equal((await deniedEvent(scene.app.admin))['resource_id'], id)
    await admin.send('PATCH', `/members/${id}`, { body: { role: 'owner' } })
    assert.equal((await create()).status, 201)
    await admin.send('PATCH', `/members/${id}`, { body: { role: 'billing' } })
    assert.equal((await create()).status, 403)
    assert.equal((await browser.get('/v1/organization/members')).status, 403)
  })

  it('is signed out at once when suspended or removed, and cannot come back while suspended', async () => {
    const { admin } = scene.app
    const person = { sub: 'a3', groups: ['readers'] }
    const browser = await signedIn(scene, person)
    const path = `/members/${(await meOf(browser)).actor.id}`
    await admin.send('PATCH', path, { body: { status: 'suspended' } })
    assert.deepEqual(await errorCodeOf(await browser.get(me)), [401, 'signed_out'])
    assert.equal(await openOidcBrowser(scene.app).signIn(), '../../#refused=suspended')
    await admin.send('PATCH', path, { body: { status: 'active' } })
    const again = await signedIn(scene, person)
    assert.equal((await admin.send('DELETE', path)).status, 200)
    assert.deepEqual(await errorCodeOf(await again.get(me)), [401, 'signed_out'])
  })

  it('has sessions that an administrator lists and ends', async () => {
    const browser = await signedIn(scene, { sub: 'a4', name: 'Linus', groups: ['admins'] })
    const own = (await (await browser.get('/v1/organization/sign_ins')).json()) as { data: { id: string }[] }
    const current = itemsOf(own).find((signIn) => signIn['is_current'] === true) ?? {}
    assert.equal((current['actor'] as { name: string }).name, 'Linus')
    assert.equal((await scene.app.admin.send('DELETE', `/sign_ins/${textOf(current)}`)).status, 200)
    assert.deepEqual(await errorCodeOf(await browser.get(me)), [401, 'signed_out'])
  })

  it('with a role from groups keeps it until the next sign-in', async () => {
    const { actor } = await meOf(await signedIn(scene, { sub: 'a5', groups: ['readers'] }))
    const answer = await scene.app.admin.send('PATCH', `/members/${actor.id}`, { body: { role: 'owner' } })
    assert.deepEqual([answer.status, (answer.body['error'] as { param: string }).param], [409, 'role'])
  })

  it('cannot use the session at inference endpoints', async () => {
    const browser = await signedIn(scene, { sub: 'a6', groups: ['admins'] })
    const body = { model: 'gatehouse-echo', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] }
    assert.equal((await browser.send('POST', '/v1/messages', { body })).status, 401)
  })
})

/** The event is written concurrently with the request, so that changes of the organization follow it in the chain. */
async function deniedEvent(admin: Admin): Promise<Json> {
  for (let count = 0; count < 100; count++) {
    const [denied] = itemsOf(await admin.get('/audit_logs?kind=member.denied'))
    if (denied !== undefined) return denied
    await admin.post('/projects', { name: 'Later' })
  }
  throw new Error('there is no event')
}

describe('the last owner', () => {
  it('cannot be removed, suspended or lowered if no administrator key with all permissions is left', async () => {
    await using scene = await openScene()
    const { admin, app } = scene.app
    const id = textOf(await admin.post('/members', { subject: 'o1', role: 'owner' }))
    const second = textOf(await admin.post('/members', { subject: 'o2', role: 'owner' })) // never signs in
    const browser = await signedIn(scene, { sub: 'o1' })
    const [key] = itemsOf(await admin.get('/admin_api_keys'))
    await operatorOf(app).revokeKey(textOf(key ?? {}))
    const path = `/v1/organization/members/${id}`
    for (const [method, body] of [
      ['PATCH', { role: 'auditor' }],
      ['PATCH', { status: 'suspended' }],
      ['DELETE', undefined],
    ] as const)
      assert.deepEqual(await errorCodeOf(await browser.send(method, path, { body })), [409, 'last_owner'], method)
    await signedIn(scene, { sub: 'o2' })
    assert.equal((await browser.send('DELETE', path)).status, 200)
    assert.notEqual(second, id)
  })

  it('can be removed while an administrator key with all permissions exists', async () => {
    await using scene = await openScene()
    const id = textOf(await scene.app.admin.post('/members', { subject: 'o1', role: 'owner' }))
    await signedIn(scene, { sub: 'o1' })
    assert.equal((await scene.app.admin.send('DELETE', `/members/${id}`)).status, 200)
  })
})

describe('the organization of people who sign in', () => {
  it('must be configured if there is more than one', async () => {
    await using scene = await openScene()
    const other = await scene.app.otherOrganization()
    scene.provider.person = { sub: 'p1', groups: ['admins'] }
    assert.equal(await openOidcBrowser(scene.app).signIn(), '../../#refused=unavailable')
    assert.deepEqual(itemsOf(await other.admin.get('/members')), [])
  })

  it('is the configured one, and another organization sees nothing of them', async () => {
    await using folder = await temporaryFolder()
    const storage = { data_dir: folder.path }
    const [first, second] = await withApp(await startAdminApp({ storage }), async (app) => {
      const other = await app.otherOrganization()
      return [app.adminKey, { id: other.id, key: other.admin.key }] as const
    })
    await using scene = await openScene({ organization: second.id }, { storage, isFirst: false })
    const { actor } = await meOf(await signedIn(scene, { sub: 'p1', groups: ['admins'] }))
    const membersOf = async (key: string) => itemsOf(await adminOf(scene.app.url, key).get('/members'))
    assert.deepEqual(
      (await membersOf(second.key)).map(({ id }) => id),
      [actor.id],
    )
    assert.deepEqual(await membersOf(first), [])
  })
})

async function withApp<T>(app: AdminApp, work: (app: AdminApp) => Promise<T>): Promise<T> {
  await using open = app
  return await work(open)
}
