import type { Socket } from 'node:net'
import type { Clock } from '../base/clock.ts'

const lingerMs = 1_000

/**
 * Closes the connection a second after the response, because a close while the caller is still sending resets the
 * connection, and the caller would never read the error.
 */
export function lingeringClose(socket: Socket, clock: Clock): void {
  socket.destroySoon = () => {
    socket.end()
    clock.after(lingerMs, () => socket.destroy())
  }
}
