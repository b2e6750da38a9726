import { request as sendHttp } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { isRecord } from '../../base/record.ts'
import { organizationHeader } from '../../http/operator-caller.ts'

export type ApiMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type WireRequest = {
  readonly method: ApiMethod
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}
type WireHeaders = Readonly<Record<string, string | number | readonly string[] | undefined>>
type WireResponse = { readonly status: number; readonly headers: WireHeaders; readonly text: string }

/** Carries one request to the operator's API. */
export type Transport = (request: WireRequest) => Promise<WireResponse>

/** Over the control socket of a running server. */
export const socketTransport =
  (socketPath: string): Transport =>
  ({ method, path, headers, body }) =>
    new Promise((resolve, reject) => {
      const outgoing = sendHttp({ socketPath, method, path, headers, agent: false }, (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        )
      })
      outgoing.on('error', (cause) => {
        const message = 'The data folder is in use, but its server does not answer on its control socket.'
        reject(new Error(message, { cause }))
      })
      outgoing.end(body)
    })

/** Into a server of this process, without a connection. */
export const injectTransport =
  (server: FastifyInstance): Transport =>
  async ({ method, path, headers, body }) => {
    const answer = await server.inject({
      method,
      url: path,
      headers: { ...headers },
      ...(body !== undefined && { body }),
    })
    return { status: answer.statusCode, headers: answer.headers, text: answer.body }
  }

/** An error response of the API. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly param: string | null

  constructor(status: number, error: Readonly<Record<string, unknown>>) {
    const { message = `The server responded with the status ${status}.`, cause } = error
    super(String(message), cause === undefined ? {} : { cause })
    this.name = 'ApiError'
    this.status = status
    this.code = String(error['code'] ?? 'internal_error')
    this.param = typeof error['param'] === 'string' ? error['param'] : null
  }
}

/** A list becomes a parameter that is repeated. */
export type ApiQuery = Readonly<Record<string, string | number | readonly string[] | undefined>>
export type ApiRequest = {
  readonly query?: ApiQuery
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}
export type ApiResponse<T> = { readonly body: T; readonly headers: WireHeaders }

/** A list of the API; of several pages, with the items of all of them. */
export type ApiList<T> = {
  readonly object: 'list'
  readonly data: readonly T[]
  readonly has_more: boolean
  readonly first_id: string | null
  readonly last_id: string | null
}

export type ApiClient = {
  /** The same client for requests about this organization; without an id, about the only one. */
  inOrganization(id: string | undefined): ApiClient
  /** Rejects with an `ApiError` for any status but 2xx. */
  request<T>(method: ApiMethod, path: string, options?: ApiRequest): Promise<ApiResponse<T>>
  get<T>(path: string, query?: ApiQuery): Promise<T>
  /** The body of a response that is not JSON. */
  getText(path: string, query?: ApiQuery): Promise<string>
  post<T>(path: string, body?: object): Promise<T>
  /** Reads pages until `most` items or the end. */
  list<T>(path: string, query?: ApiQuery, most?: number): Promise<ApiList<T>>
}

/** The most items that a page of the API has. */
const pageSize = 100

export function createApiClient(send: Transport, organization?: string): ApiClient {
  async function exchange(method: ApiMethod, path: string, options: ApiRequest): Promise<WireResponse> {
    const { query = {}, body, headers = {} } = options
    const given = Object.entries(query).flatMap(([name, value]) =>
      [value ?? []].flat().map((each) => [name, String(each)]),
    )
    const search = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
    const answer = await send({
      method,
      path: `${path}${search}`,
      headers: {
        host: 'localhost',
        ...(organization !== undefined && { [organizationHeader]: organization }),
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body && JSON.stringify(body),
    })
    if (answer.status < 300) return answer
    const value = valueOf(answer.text)
    throw new ApiError(answer.status, isRecord(value) && isRecord(value['error']) ? value['error'] : {})
  }

  async function request<T>(method: ApiMethod, path: string, options: ApiRequest = {}): Promise<ApiResponse<T>> {
    const { text, headers } = await exchange(method, path, options)
    return { body: valueOf(text) as T, headers }
  }

  const get = async <T>(path: string, query: ApiQuery = {}): Promise<T> =>
    (await request<T>('GET', path, { query })).body

  return {
    inOrganization: (id) => createApiClient(send, id),
    request,
    get,
    getText: async (path, query = {}) => (await exchange('GET', path, { query })).text,
    post: async <T>(path: string, body?: object) =>
      (await request<T>('POST', path, body === undefined ? {} : { body })).body,
    async list<T>(path: string, query: ApiQuery = {}, most = Infinity) {
      const read = (count: number, after?: string | null) =>
        get<ApiList<T>>(path, {
          order: 'asc',
          ...query,
          limit: Math.min(pageSize, most - count),
          after: after ?? undefined,
        })
      let all = await read(0)
      while (all.has_more && all.data.length < most) {
        const next = await read(all.data.length, all.last_id)
        all = { ...next, data: [...all.data, ...next.data], first_id: all.first_id }
      }
      return all
    },
  }
}

const valueOf = (text: string): unknown => (text === '' ? {} : JSON.parse(text))

/** A path with ids in it: `` apiPath`/v1/organization/policies/${id}` ``. */
export const apiPath = (parts: TemplateStringsArray, ...ids: readonly (string | number)[]): string =>
  String.raw({ raw: parts }, ...ids.map(encodeURIComponent))
