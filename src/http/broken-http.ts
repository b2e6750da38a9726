import type { Duplex } from 'node:stream'

type RawAnswer = { readonly status: string; readonly code: string; readonly message: string; readonly headers?: string }

const known: Readonly<Record<string, RawAnswer>> = {
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

const invalid: RawAnswer = {
  status: '400 Bad Request',
  code: 'invalid_request',
  message: 'The request is not valid HTTP.',
}

const noTunnel: RawAnswer = {
  status: '405 Method Not Allowed',
  code: 'method_not_allowed',
  message: 'CONNECT is not supported: this server is not a proxy.',
  headers: 'allow:\r\n',
}

/** Bytes that are not HTTP never reach a route. */
export function answerBrokenHttp(error: NodeJS.ErrnoException, socket: Duplex, requestId: string): void {
  // A handshake that failed has no way to say anything.
  const isMute = error.code === 'ECONNRESET' || error.code?.startsWith('ERR_SSL_') === true
  if (isMute || !socket.writable) return void socket.destroy()
  end(socket, known[error.code ?? ''] ?? invalid, requestId)
}

/** CONNECT names a host and no path, so Node hands over the socket and no response. */
export function refuseTunnel(socket: Duplex, requestId: string): void {
  socket.on('error', () => socket.destroy())
  end(socket, noTunnel, requestId)
}

/** Without a path there is no family. The administration's shape is the general one. */
function end(socket: Duplex, { status, code, message, headers = '' }: RawAnswer, requestId: string): void {
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
