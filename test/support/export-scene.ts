import { startAdminApp, type AdminApp, type Answer, type Json } from './administration.ts'
import type { TestAppOptions } from './app.ts'

export type ExportScene = AdminApp & {
  /** Paths are relative to `/api/policy-gateway`; uses the project's API key by default. */
  gateway(
    method: string,
    path: string,
    what?: { body?: unknown; key?: string; headers?: Record<string, string> },
  ): Promise<Answer>
  /** Creates a sink; fails if that is rejected. */
  createSink(config: Json, type?: string): Promise<Json>
  sink(id: string): Promise<Json>
}

/** An app whose sinks may reach this machine. */
export async function startExportScene({ config = {}, ...rest }: TestAppOptions = {}): Promise<ExportScene> {
  const app = await startAdminApp({ ...rest, config: { exports: { allow_addresses: ['127.0.0.0/8'] }, ...config } })
  const gateway: ExportScene['gateway'] = async (method, path, { body, key = app.apiKey, headers = {} } = {}) => {
    const response = await fetch(`${app.url}/api/policy-gateway${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: response.status, headers: response.headers, body: (await response.json()) as Json }
  }
  const exportOf = ({ status, body }: Answer): Json => {
    if (status >= 300) throw new Error(`answered ${status}: ${JSON.stringify(body)}`)
    return { ...(body['export'] as Json) }
  }
  return {
    ...app,
    gateway,
    createSink: async (settings, type = 'webhook') =>
      exportOf(await gateway('POST', '/exports', { body: { type, label: 'Test', config: settings } })),
    sink: async (id) => exportOf(await gateway('GET', `/exports/${id}`)),
  }
}
