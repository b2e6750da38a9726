import { words } from '../words/en.ts'

/** An error response of the API, or a request that got no response (`status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  /** The field that is wrong, if one is. */
  readonly param: string | undefined

  constructor(status: number, fields: { code: string; message: string; param?: string | undefined }) {
    super(fields.message)
    this.status = status
    this.code = fields.code
    this.param = fields.param
  }
}

export const isApiError = (error: unknown): error is ApiError => error instanceof ApiError

/** The session ended. A dialog asks to sign in again, and then the error is past. */
export const isSignedOutError = (error: unknown): boolean => isApiError(error) && error.status === 401

export const errorText = (error: unknown): string => (error instanceof Error ? error.message : words.common.failed)

/** The error in a response body. Every endpoint that the console calls has `{ error: { code, message } }`. */
export function errorIn(status: number, body: unknown): ApiError {
  const { error } = Object(body) as { error?: { code?: unknown; message?: unknown; param?: unknown } }
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
  return new ApiError(status, {
    code: text(error?.code) ?? `http_${status}`,
    message: text(error?.message) ?? words.common.failed,
    param: text(error?.param),
  })
}
