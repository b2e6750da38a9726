import type { Worker } from 'node:cluster'

type Handle = { close(): void }
type Sent = { readonly act?: string; readonly seq?: number }
type Acknowledged = { readonly ack?: number }

/**
 * Closes a connection that was sent to a worker which died before it accepted it. Node keeps such a connection open for as long as
 * the supervisor runs, and its caller would wait for an answer.
 */
export function closeUnacceptedConnections({ process: child }: Worker): void {
  const pending = new Map<number, Handle>()
  const send = child.send.bind(child)
  const sendAndKeep = (message: Sent, handle?: Handle, ...rest: never[]): boolean => {
    if (message.act === 'newconn' && message.seq !== undefined && handle !== undefined) pending.set(message.seq, handle)
    return Reflect.apply(send, child, [message, handle, ...rest])
  }
  Object.assign(child, { send: sendAndKeep })
  child.on('internalMessage', ({ ack }: Acknowledged) => {
    if (ack !== undefined) pending.delete(ack)
  })
  child.once('exit', () => {
    for (const handle of pending.values()) handle.close()
  })
}
