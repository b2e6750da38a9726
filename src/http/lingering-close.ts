import type { Socket } from 'node:net'
import type { Clock } from '../base/clock.ts'

const lingerMs = 1_000

/**
 * Closes the connection a moment after the answer instead of at once: while a caller is still sending, an immediate
 * close resets the connection, and the caller never reads why it was refused.
 */
export function lingeringClose(socket: Socket, clock: Clock): void {
  socket.destroySoon = () => {
    socket.end()
    clock.after(lingerMs, () => socket.destroy())
  }
}
