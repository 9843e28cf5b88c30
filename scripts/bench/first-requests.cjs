// Loaded into a server: tells when it took up the first request of each connection, as [port of the caller, time] pairs, since
// it was last asked.
const { Server } = require('node:http');
const { isMainThread } = require('node:worker_threads');

if (isMainThread && process.send) {
  const { emit } = Server.prototype;
  const known = new WeakSet();
  let taken = [];
  Server.prototype.emit = function (event, ...values) {
    const socket = event === 'request' ? values[0].socket : undefined;
    if (socket !== undefined && !known.has(socket)) {
      known.add(socket);
      taken.push([socket.remotePort, performance.timeOrigin + performance.now()]);
    }
    return emit.call(this, event, ...values);
  };
  process.on('message', () => {
    process.send(taken);
    taken = [];
  });
  process.channel.unref();
}
