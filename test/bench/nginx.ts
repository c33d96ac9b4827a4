import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { scrapes } from './scraping.ts';

/** nginx with the same files, as it is set up to serve them fastest; it ends with its process. */
export async function startNginx(directory: string): Promise<{ readonly port: number; stop(): void }> {
  const port = await freePort();
  const path = join(directory, 'nginx.conf');
  writeFileSync(
    path,
    `daemon off; worker_processes 1; pid ${directory}/nginx.pid; error_log stderr crit; user root;
events { worker_connections 64; }
http { access_log off; sendfile on; tcp_nopush on; open_file_cache max=10; gzip_static on; keepalive_requests 1000000;
client_body_temp_path ${directory}/a; proxy_temp_path ${directory}/b; fastcgi_temp_path ${directory}/c;
uwsgi_temp_path ${directory}/d; scgi_temp_path ${directory}/e;
server { listen 127.0.0.1:${port}; root ${directory}; default_type text/plain; } }
`,
  );
  const child: ChildProcess = spawn('nginx', ['-e', 'stderr', '-c', path], { stdio: 'ignore' });
  for (let tries = 0; tries < 100; tries += 1) {
    await sleep(30);
    if (
      await scrapes(port, '/metrics', false, 1).then(
        () => true,
        () => false,
      )
    )
      break;
  }
  return { port, stop: () => void child.kill('SIGQUIT') };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });
}
