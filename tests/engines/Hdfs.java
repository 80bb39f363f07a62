import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;

/**
 * Runs NameNodes and a DataNode in a directory until its input ends; prints the NameNodes' ports.
 *
 * Arguments: the directory, then the name of a nameservice if two NameNodes are to share it. Each line of input is a
 * command: `active N`, `standby N`, `stop N` or `start N`, and is answered by a line.
 */
public final class Hdfs {
    public static void main(String[] arguments) throws Exception {
        Configuration settings = new Configuration();
        settings.set("dfs.permissions.enabled", "false");
        settings.set("ipc.client.connect.max.retries", "1"); // NameNodes ask each other
        MiniDFSCluster.Builder builder =
                new MiniDFSCluster.Builder(settings, new File(arguments[0])).numDataNodes(1);
        boolean isPair = arguments.length > 1;
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
