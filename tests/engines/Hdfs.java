import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.minikdc.MiniKdc;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.kerby.kerberos.kerb.client.KrbClient;

/**
 * Runs NameNodes and a DataNode in a directory until its input ends; prints the NameNodes' ports.
 *
 * Arguments: the directory, then the name of a nameservice if two NameNodes are to share it, or `--kerberos`. With that,
 * the directory gets `krb5.conf`, a `ticket` for the user `tester` and his delegation `token`. Each line of input is a
 * command: `active N`, `standby N`, `stop N` or `start N`, and is answered by a line.
 */
public final class Hdfs {
    public static void main(String[] arguments) throws Exception {
        Configuration settings = new Configuration();
        settings.set("dfs.permissions.enabled", "false");
        settings.set("ipc.client.connect.max.retries", "1"); // NameNodes ask each other
        MiniDFSCluster.Builder builder =
                new MiniDFSCluster.Builder(settings, new File(arguments[0])).numDataNodes(1);
        boolean isSecure = arguments.length > 1 && arguments[1].equals("--kerberos");
        boolean isPair = arguments.length > 1 && !isSecure;
        Path directory = new File(arguments[0]).toPath();
        if (isSecure) {
            secure(settings, directory);
        }
        if (isPair) {
            settings.set( // DataNodes answer WebHDFS and are clients themselves
                    "dfs.client.failover.proxy.provider." + arguments[1],
                    "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider");
            builder.nnTopology(new MiniDFSNNTopology().addNameservice(
                    new MiniDFSNNTopology.NSConf(arguments[1])
                            .addNN(new MiniDFSNNTopology.NNConf("nn1"))
                            .addNN(new MiniDFSNNTopology.NNConf("nn2"))));
        }
        MiniDFSCluster cluster = builder.build();
        if (isPair) {
            cluster.transitionToActive(0);
        }
        cluster.waitActive();
        if (isSecure) {
            Files.writeString(
                    directory.resolve("token"),
                    cluster.getNameNodeRpc().getDelegationToken(new Text("tester")).encodeToUrlString());
        }
        StringBuilder said = new StringBuilder("hdfs");
        for (int node = 0; node < cluster.getNumNameNodes(); node++) {
            said.append(" ").append(cluster.getNameNodePort(node));
            said.append(" ").append(cluster.getNameNode(node).getHttpAddress().getPort());
        }
        System.out.println(said);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            carryOut(cluster, words[0], Integer.parseInt(words[1]));
            System.out.println("done");
        }
        cluster.shutdown();
    }

    private static void secure(Configuration settings, Path directory) throws Exception {
        Files.createDirectories(directory);
        MiniKdc center = new MiniKdc(MiniKdc.createConf(), directory.resolve("kdc").toFile());
        center.start();
        File keys = directory.resolve("keytab").toFile();
        center.createPrincipal(keys, "hdfs/localhost", "HTTP/localhost", "tester");
        Files.copy(center.getKrb5conf().toPath(), directory.resolve("krb5.conf"));
        KrbClient client = new KrbClient();
        client.setKdcHost(center.getHost());
        client.setKdcTcpPort(center.getPort());
        client.setAllowUdp(false);
        client.setKdcRealm(center.getRealm());
        client.init();
        client.storeTicket(
                client.requestTgt("tester@" + center.getRealm(), keys), directory.resolve("ticket").toFile());
        settings.set("hadoop.security.authentication", "kerberos");
        settings.set("hadoop.rpc.protection", "privacy");
        settings.set("dfs.data.transfer.protection", "privacy");
        settings.set("dfs.block.access.token.enable", "true");
        settings.set("ignore.secure.ports.for.testing", "true");
        settings.set("dfs.http.policy", "HTTP_ONLY");
        for (String node : new String[] {"namenode", "datanode"}) {
            settings.set("dfs." + node + ".keytab.file", keys.getPath());
            settings.set("dfs." + node + ".kerberos.principal", "hdfs/localhost@" + center.getRealm());
        }
        settings.set("dfs.web.authentication.kerberos.principal", "HTTP/localhost@" + center.getRealm());
        settings.set("dfs.web.authentication.kerberos.keytab", keys.getPath());
        UserGroupInformation.setConfiguration(settings);
        UserGroupInformation.loginUserFromKeytab("hdfs/localhost@" + center.getRealm(), keys.getPath());
    }

    private static void carryOut(MiniDFSCluster cluster, String command, int node) throws Exception {
        switch (command) {
            case "active" -> {
                cluster.transitionToActive(node);
                while (cluster.getNamesystem(node).getNumLiveDataNodes() == 0
                        || cluster.getNamesystem(node).isInSafeMode()) { // it was just started
                    cluster.triggerHeartbeats();
                    cluster.triggerBlockReports();
                    Thread.sleep(50);
                }
            }
            case "standby" -> cluster.transitionToStandby(node);
            case "stop" -> cluster.shutdownNameNode(node);
            case "start" -> cluster.restartNameNode(node, false);
            default -> throw new IllegalArgumentException(command);
        }
    }
}
