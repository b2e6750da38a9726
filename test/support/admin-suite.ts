import { after, before } from 'node:test'
import { startAdminApp, textOf, type Admin, type AdminApp, type Answer, type Json } from './administration.ts'

/** An app for the tests of one file. Call it inside `describe`. */
export function adminSuite(...options: Parameters<typeof startAdminApp>) {
  let app: AdminApp | undefined
  let policies = 0 // names are unique
  before(async () => void (app = await startAdminApp(...options)))
  after(() => app?.[Symbol.asyncDispose]())

  const opened = (): AdminApp => {
    if (!app) throw new Error('the app is not open yet')
    return app
  }
  const admin = (): Admin => opened().admin

  return {
    app: opened,
    admin,
    send: (method: string, path: string, body?: unknown): Promise<Answer> => admin().send(method, path, { body }),
    /** Creates a policy and applies these actions, such as `['publish', {}]`, each with the current revision. */
    async policy(fields: Json = {}, ...steps: readonly PolicyStep[]): Promise<Json> {
      let policy = await admin().post('/policies', { name: `Policy ${++policies}`, rule: 'Say "no"', ...fields })
      for (const [operation, body = {}] of steps) policy = await applyStep(admin(), policy, { operation, body })
      return policy
    },
  }
}

export type PolicyStep = readonly [operation: string, body?: Json]

async function applyStep(
  admin: Admin,
  policy: Json,
  { operation, body }: { operation: string; body: Json },
): Promise<Json> {
  const path = `/policies/${textOf(policy)}`
  const requestBody = { revision: policy['revision'], ...body }
  const answer =
    operation === 'update'
      ? await admin.send('PATCH', path, { body: requestBody })
      : await admin.send('POST', `${path}/${operation}`, { body: requestBody })
  if (answer.status !== 200) throw new Error(`${operation} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body
}
