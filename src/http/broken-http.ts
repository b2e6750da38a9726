import type { Duplex } from 'node:stream'

type RawResponse = {
  readonly status: string
  readonly code: string
  readonly message: string
  readonly headers?: string
}

const known: Readonly<Record<string, RawResponse>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'headers_too_large',
    message: 'The headers are over 16 KiB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'request_timeout',
    message: 'The request was not sent in time.',
  },
}

const invalid: RawResponse = {
  status: '400 Bad Request',
  code: 'invalid_request',
  message: 'The request is not valid HTTP.',
}

const connectNotSupported: RawResponse = {
  status: '405 Method Not Allowed',
  code: 'method_not_allowed',
  message: 'CONNECT is not supported: this server is not a proxy.',
  headers: 'allow:\r\n',
}

/** Answers bytes that are not valid HTTP, which therefore never reach a route. */
export function answerBrokenHttp(error: NodeJS.ErrnoException, socket: Duplex, requestId: string): void {
  // A connection without a finished TLS handshake cannot carry a response.
  const cannotAnswer = error.code === 'ECONNRESET' || error.code?.startsWith('ERR_SSL_') === true
  if (cannotAnswer || !socket.writable) return void socket.destroy()
  end(socket, known[error.code ?? ''] ?? invalid, requestId)
}

/** Rejects CONNECT. Its target is a host and no path, so Node passes the socket instead of a response. */
export function rejectConnect(socket: Duplex, requestId: string): void {
  socket.on('error', () => socket.destroy())
  end(socket, connectNotSupported, requestId)
}

/** Writes the response in the default error format, because without a path the family is unknown. */
function end(socket: Duplex, { status, code, message, headers = '' }: RawResponse, requestId: string): void {
  const body = JSON.stringify({
    error: { code, message, type: 'validation_error', param: null, request_id: requestId, doc_url: null },
  })
  const lines = [
    `HTTP/1.1 ${status}`,
    `x-request-id: ${requestId}`,
    'connection: close',
    'content-type: application/json',
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  socket.end(`${lines.join('\r\n')}\r\n${headers}\r\n${body}`)
}
